---------------------------- MODULE OneSidedLog ----------------------------
(* The log of one group, replicated by one-sided writes. A leader of a term stores frames in the memory of its followers,
   under a grant that it has from each of them, and counts the completions. A follower's processor does nothing for that. A
   new leader needs promises: a server that promises ends the grant of the leader before, and only then looks at what that
   one has stored. Then the new leader gives its log to the servers that follow it (Adopt), each of which grants it memory.
   Members do not change: that is in Reconfig, with shared memory, where the end of a grant does not stop a store.

   Entry i of the leader of term t is t (a leader makes one frame an index), so a log is a sequence of terms; 0 is a frame
   that is not whole. Messages that are lost and leaders that stop are steps that are not taken.

   What is no step here, and why nothing is lost by that. Sending: the log of a leader is what it adopted and as many
   entries of its own as it likes, so any frame may be on its way as soon as the leader may append. Completions: one is
   counted when the frame has landed, which is the earliest moment; one that is late is a frame that landed and is not
   counted (Break). Commits: what a majority has counted is acknowledged at once. Becoming leader: a candidate that has a
   majority of promises may lead, and its choice is final when it first has its log adopted. Off names the rules that are
   removed; {} is the protocol. *)
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS Servers, MaxTerm, MaxLen,
          MaxAgain,                  \* followers that are adopted again in the term in which they were adopted
          Reads,                     \* TRUE: there is a read
          Off
VARIABLES server,                    \* promised: highest term; accepted: term of the last Adopt; log: frames in its memory;
                                     \* granted: the leader of the accepted term may store there
          leader,                    \* of each term. owner: its server, a set; promises: who gave one; best: log to adopt, the
                                     \* term in which that was accepted; led: it is chosen; count[f]: frames counted at f (-1:
                                     \* not adopted); acked: entries acknowledged; checked: see RULE selfStore
          again,                     \* bound
          read,                      \* one read: term of the leader that serves it (0: none); servers that proved its grant
          late,                      \* completions <<term, server, index>> of grants that have ended
          lost                       \* servers that lost their memory
vars == <<server, leader, again, read, late, lost>>
On(r) == r \notin Off
Term == 1..MaxTerm
Max(a, b) == IF a > b THEN a ELSE b
IsMajority(S) == 2 * Cardinality(S) > Cardinality(Servers)
Empty    == [promised |-> 0, accepted |-> 0, log |-> <<>>, granted |-> FALSE]
NoLeader == [owner |-> {}, promises |-> {}, accepted |-> 0, best |-> <<>>, led |-> FALSE,
             count |-> [f \in Servers |-> -1], acked |-> 0, checked |-> FALSE]
NoRead   == [t |-> 0, proved |-> {}]

Init == /\ server = [f \in Servers |-> Empty] /\ leader = [t \in Term |-> NoLeader]
        /\ again = 0 /\ read = NoRead /\ late = {} /\ lost = {}

Led(t)  == leader[t].led \/ IsMajority(leader[t].promises)
Own(t)  == leader[t].owner
Counted(l, i) == {f \in Servers : l.count[f] >= i}
(* RULE adoptMajority: a leader appends when a majority has adopted its log. That is not needed: AppendEarly holds. *)
Adopted(l) == IsMajority(Counted(l, 0))
Open(l) == l.led /\ (On("adoptMajority") => Adopted(l))
Entry(t, i)  == IF i <= Len(leader[t].best) THEN leader[t].best[i] ELSE t
Prefix(t, n) == [i \in 1..n |-> Entry(t, i)]
Acknowledge(l) == [l EXCEPT !.acked = Max(@, Cardinality({i \in 1..MaxLen : IsMajority(Counted(l, i))}))]
Count(t, f, n) == leader' = [leader EXCEPT ![t] = Acknowledge([@ EXCEPT !.count[f] = n])]

(* ---- a promise. RULE identity: a server that lost its memory is another server, and this one never answers again ---- *)
(* RULE frameChecksum: a frame that is not whole ends the log, because its checksum is over all of it. *)
RECURSIVE Scan(_)
Scan(log) == IF log = <<>> \/ (Head(log) = 0 /\ On("frameChecksum")) THEN <<>> ELSE <<Head(log)>> \o Scan(Tail(log))
LastTerm(log) == IF log = <<>> THEN 0 ELSE log[Len(log)]
(* RULE acceptedTerm: the best log is the longest of those that were adopted last. Off: of those with the last entry. *)
Promise(l, s, f, c) ==
  LET log == Scan(s.log)
      accepted == IF On("acceptedTerm") THEN s.accepted ELSE LastTerm(log)
      better == accepted > l.accepted \/ (accepted = l.accepted /\ Len(log) > Len(l.best))
  IN [l EXCEPT !.owner = {c}, !.promises = @ \cup {f},
               !.accepted = IF better THEN accepted ELSE @, !.best = IF better THEN log ELSE @]
(* RULE revokeFirst: the grant of the leader before ends before its frames are looked at. Off: it ends later. *)
Prepare(f, t) == /\ ~leader[t].led /\ server[f].promised < t
                 /\ server' = [server EXCEPT ![f].promised = t, ![f].granted = IF On("revokeFirst") THEN FALSE ELSE @]
                 /\ \E c \in IF Own(t) = {} THEN Servers ELSE Own(t) : leader' = [leader EXCEPT ![t] = Promise(@, server[f], f, c)]
                 /\ UNCHANGED <<again, read, late, lost>>
Lose(f) == /\ ~On("identity") /\ lost = {} /\ lost' = {f} /\ server' = [server EXCEPT ![f] = Empty]
           /\ UNCHANGED <<leader, again, read, late>>

(* ---- followers ---- *)
Adopt(f, t) == /\ Led(t) /\ leader[t].count[f] = -1 /\ server[f].promised <= t
               /\ server' = [server EXCEPT ![f] = [promised |-> t, accepted |-> t, log |-> leader[t].best, granted |-> TRUE]]
               /\ leader' = [leader EXCEPT ![t] = Acknowledge([@ EXCEPT !.led = TRUE, !.promises = {}, !.accepted = 0,
                                                                        !.count[f] = Len(leader[t].best)])]
               /\ UNCHANGED <<again, read, late, lost>>
(* A follower that was left comes back under a new grant, in new memory. RULE keepCounted: it keeps what was counted there.
   It has no need to keep more: the leader sends the rest again. *)
AdoptAgain(f, t) ==
  LET n == IF On("keepCounted") THEN leader[t].count[f] ELSE Len(leader[t].best) IN
  /\ again < MaxAgain /\ again' = again + 1
  /\ f \notin Own(t) /\ leader[t].count[f] # -1 /\ server[f].promised = t /\ server[f].accepted = t /\ ~server[f].granted
  /\ server' = [server EXCEPT ![f].log = Prefix(t, n), ![f].granted = TRUE]
  /\ Count(t, f, n)
  /\ UNCHANGED <<read, late, lost>>
CanStore(f, t) == /\ Open(leader[t]) /\ server[f].accepted = t /\ Len(server[f].log) < MaxLen
                  /\ f \in Own(t) \/ server[f].granted
Store(f, x) == [server EXCEPT ![f].log = Append(@, x)]
Land(f, t) == /\ f \notin Own(t) /\ CanStore(f, t) /\ server' = Store(f, t)
              /\ Count(t, f, Len(server[f].log) + 1)
              /\ UNCHANGED <<again, read, late, lost>>
(* The connection ends while a frame lands: the frame may be whole, but the leader does not count it. RULE errorLeaves: the
   leader leaves the follower then. Off: it connects anew and goes on with its next frame. RULE countGrant: a completion
   counts only under the grant under which the frame was sent. Off: also after the follower has a new one. *)
Break(f, t) == \E x \in {0, t} :
               /\ f \notin Own(t) /\ CanStore(f, t)
               /\ server' = [Store(f, x) EXCEPT ![f].granted = ~On("errorLeaves")]
               /\ late' = IF On("countGrant") \/ x = 0 THEN late ELSE late \cup {<<t, f, Len(server[f].log) + 1>>}
               /\ UNCHANGED <<leader, again, read, lost>>
CountLate(t, f, i) == /\ <<t, f, i>> \in late /\ leader[t].count[f] = i - 1 /\ Count(t, f, i)
                      /\ UNCHANGED <<server, again, read, late, lost>>

(* ---- the leader's own copy ---- *)
(* Nothing stops it from storing there, also after its server has promised to follow another leader. RULE selfFence: it
   counts a frame only if its server has not. RULE selfStore: it looks when the frame is stored. Off: before. *)
StoreOwn(f, t) == /\ f \in Own(t) /\ CanStore(f, t) /\ server' = Store(f, t)
                  /\ UNCHANGED <<leader, again, read, late, lost>>
Check(f, t) == /\ ~On("selfStore") /\ f \in Own(t) /\ Open(leader[t]) /\ server[f].promised = t /\ ~leader[t].checked
               /\ leader' = [leader EXCEPT ![t].checked = TRUE]
               /\ UNCHANGED <<server, again, read, late, lost>>
CountOwn(f, t) == /\ f \in Own(t) /\ Open(leader[t]) /\ server[f].accepted = t
                  /\ leader[t].count[f] >= 0 /\ leader[t].count[f] < Len(server[f].log)
                  /\ On("selfFence") => IF On("selfStore") THEN server[f].promised = t ELSE leader[t].checked
                  /\ leader' = [leader EXCEPT ![t] = Acknowledge([@ EXCEPT !.count[f] = @ + 1, !.checked = FALSE])]
                  /\ UNCHANGED <<server, again, read, late, lost>>

(* ---- a read. It sees what its leader had acknowledged when the read began ---- *)
(* It is of interest only when that is less than what all leaders had acknowledged by then. RULE readCommitted: a leader
   reads when something is committed in its term. Here that is what a majority has adopted, which is earlier than an entry
   of its own. *)
Begin(t) == /\ Reads /\ read = NoRead /\ leader[t].led /\ (On("readCommitted") => Adopted(leader[t]))
            /\ \E u \in Term : leader[u].acked > leader[t].acked
            /\ read' = [t |-> t, proved |-> {}]
            /\ UNCHANGED <<server, leader, again, late, lost>>
(* RULE prove: after the read began, a write under the leader's grant was done at a majority. *)
Prove(f) == /\ read.t # 0 /\ f \notin read.proved /\ server[f].accepted = read.t
            /\ IF f \in Own(read.t) THEN server[f].promised = read.t ELSE server[f].granted
            /\ read' = [read EXCEPT !.proved = @ \cup {f}]
            /\ UNCHANGED <<server, leader, again, late, lost>>
Served == read.t # 0 /\ (On("prove") => IsMajority(read.proved))

Next == \/ \E f \in Servers, t \in Term : \/ Prepare(f, t) \/ Adopt(f, t) \/ AdoptAgain(f, t) \/ Land(f, t) \/ Break(f, t)
                                          \/ StoreOwn(f, t) \/ Check(f, t) \/ CountOwn(f, t)
                                          \/ \E i \in 1..MaxLen : CountLate(t, f, i)
        \/ \E f \in Servers : Lose(f) \/ Prove(f)
        \/ \E t \in Term : Begin(t)
Spec == Init /\ [][Next]_vars
Sym == Permutations(Servers)
(* To find a violation that needs many terms: leaders take turns, connections last, a candidate asks itself first and no
   more than it needs, and only those that promised follow it. *)
Begun == {t \in Term : leader[t].owner # {}}
InTurn == /\ \A t \in Begun' : t = 1 \/ leader'[t - 1].led
          /\ \A t, u \in Begun' : t < u => leader'[t] = leader[t]
          /\ \A f \in Servers : server'[f] # server[f] =>
               /\ \A t \in Begun' : server'[f].promised >= t
               /\ IF server'[f].promised = server[f].promised THEN server[f].granted => server'[f].granted
                  ELSE server'[f].accepted = server[f].accepted
          /\ \A t \in Term : /\ IsMajority(leader[t].promises) => leader'[t].promises \subseteq leader[t].promises
                             /\ leader'[t].led \/ leader'[t].owner \subseteq leader'[t].promises
SpecInTurn == Init /\ [][Next /\ InTurn]_vars

(* ---- properties ---- *)
\* What two leaders acknowledged is the same.
Agreement == \A t, u \in Term : \A i \in 1..MaxLen : (i <= leader[t].acked /\ i <= leader[u].acked) => Entry(t, i) = Entry(u, i)
\* A leader has what earlier ones acknowledged, also what they acknowledge after it was chosen.
LeaderComplete == \A t, u \in Term : (Led(t) /\ u < t) =>
                    \A i \in 1..leader[u].acked : i <= Len(leader[t].best) /\ leader[t].best[i] = Entry(u, i)
\* No leader adopts a frame that is not whole.
NoGarbage == \A t \in Term : Led(t) => \A i \in 1..Len(leader[t].best) : leader[t].best[i] # 0
\* Only the leader to whom a server promised last can store there.
OneWriter == \A f \in Servers : server[f].granted => server[f].accepted = server[f].promised
\* What is counted at a follower is there, until it follows another leader.
Stored == \A f \in Servers : \A t \in Term : server[f].accepted = t => Len(Scan(server[f].log)) >= leader[t].count[f]
\* A read that is served sees what was acknowledged before it began.
FreshReads == ~Served
=============================================================================
