------------------------------ MODULE Takeover ------------------------------
(* The states of the members of one group, whose log OneSidedLog and Reconfig have without them. A member has a state, which
   is the effect of all entries up to one, and a log that continues it; what its checkpoint covers it takes from its log. A
   member that lacks entries which a leader's log does not have any more takes the checkpoint of another member over. It does
   that in the place of its own, page by page, so it has no state meanwhile.

   An election, an adoption and the append of an entry are one step here: what may come in between is in the other models.
   Entry i of a log is the term of its leader, and a term has one leader. What a member knows to be committed is all that is:
   one that learns it later takes the same steps later. A member that is damaged or lost never answers again. Off names the
   rules that are removed; {} is the protocol. *)
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS Servers, MaxTerm, MaxLen, MaxLost, Off
VARIABLES server,      \* promised: highest term; accepted: that of the leader whose log it has; log: all entries, of which it
                       \* has those after base; state: entries that its state has, -1: there is none
          leader,      \* of each term: owner, a set; adopted: servers that have its log
          committed,   \* entries that were acknowledged
          lost,        \* servers that are damaged or gone
          taken        \* whether a checkpoint was taken over
vars == <<server, leader, committed, lost, taken>>
On(r) == r \notin Off
Term == 1..MaxTerm
Min(a, b) == IF a < b THEN a ELSE b
Max(a, b) == IF a > b THEN a ELSE b
Majority == {S \in SUBSET Servers : 2 * Cardinality(S) > Cardinality(Servers)}
Alive == Servers \ lost
Init == /\ server = [f \in Servers |-> [promised |-> 0, accepted |-> 0, log |-> <<>>, base |-> 0, state |-> 0]]
        /\ leader = [t \in Term |-> [owner |-> {}, adopted |-> {}]]
        /\ committed = <<>> /\ lost = {} /\ taken = FALSE

HasState(f) == server[f].state >= 0
\* Whether two logs have the same entries up to i.
Same(l, m, i) == Len(l) >= i /\ Len(m) >= i /\ SubSeq(l, 1, i) = SubSeq(m, 1, i)
\* Entries that are the first ones of both.
Common(l, m) == CHOOSE i \in 0..Min(Len(l), Len(m)) :
                  Same(l, m, i) /\ \A j \in (i + 1)..Min(Len(l), Len(m)) : ~Same(l, m, j)
\* Whether a log that begins after base continues that of f, or its state.
ContinuesState(f, base) == HasState(f) /\ base <= server[f].state
ContinuesLog(f, log, base) == base <= Common(server[f].log, log) /\ server[f].base <= Common(server[f].log, log)
Continues(f, log, base) == ContinuesState(f, base) \/ ContinuesLog(f, log, base)
With(f, t, log, base) == [server[f] EXCEPT !.promised = t, !.accepted = t, !.log = log,
                                           !.base = IF ContinuesLog(f, log, base) THEN @ ELSE base]
\* Whether f has all entries of a log up to i.
Has(f, log, i) == /\ HasState(f)
                  /\ \/ server[f].state >= i
                     \/ Same(server[f].log, log, i) /\ server[f].base <= server[f].state
Leads(t) == \E c \in leader[t].owner : c \in Alive /\ server[c].promised = t
Own(t) == CHOOSE c \in leader[t].owner : TRUE

(* ---- an election: only one that has a state stands, and it reads the best log of those that promise ---- *)
Better(f, g) == \/ server[f].accepted > server[g].accepted
                \/ server[f].accepted = server[g].accepted /\ Len(server[f].log) > Len(server[g].log)
Elect(c, t, Q) ==
  /\ leader[t].owner = {} /\ c \in Q /\ Q \subseteq Alive /\ HasState(c) /\ \A f \in Q : server[f].promised < t
  /\ \E b \in Q : /\ ~\E f \in Q : Better(f, b)
                  /\ b = c \/ (Better(b, c) /\ Continues(c, server[b].log, server[b].base))
                  /\ server' = [f \in Servers |-> IF f = c THEN With(c, t, server[b].log, IF b = c THEN server[c].base ELSE server[b].base)
                                                  ELSE IF f \in Q THEN [server[f] EXCEPT !.promised = t] ELSE server[f]]
  /\ leader' = [leader EXCEPT ![t] = [owner |-> {c}, adopted |-> {c}]]
  /\ UNCHANGED <<committed, lost, taken>>

(* ---- a leader ---- *)
Adopt(f, t) == LET c == server[Own(t)] IN
  /\ Leads(t) /\ f \in Alive \ leader[t].adopted /\ server[f].promised <= t
  /\ Continues(f, c.log, c.base)
  /\ server' = [server EXCEPT ![f] = With(f, t, c.log, c.base)]
  /\ leader' = [leader EXCEPT ![t].adopted = @ \cup {f}]
  /\ UNCHANGED <<committed, lost, taken>>
Write(t) == LET c == Own(t) IN
  /\ Leads(t) /\ Len(server[c].log) < MaxLen
  /\ server' = [server EXCEPT ![c].log = Append(@, t)]
  /\ UNCHANGED <<leader, committed, lost, taken>>
Store(f, t) == LET c == Own(t) IN
  /\ Leads(t) /\ f \in (Alive \cap leader[t].adopted) \ {c} /\ server[f].promised = t
  /\ Len(server[f].log) < Len(server[c].log)
  /\ server' = [server EXCEPT ![f].log = Append(@, server[c].log[Len(@) + 1])]
  /\ UNCHANGED <<leader, committed, lost, taken>>
(* RULE stateCounts: what is written to a member without a state counts for nothing. *)
Counts(f, t, i) == /\ f \in Alive /\ f \in leader[t].adopted /\ server[f].promised = t /\ Len(server[f].log) >= i
                   /\ On("stateCounts") => HasState(f)
Commit(t, i) == LET c == Own(t) IN
  /\ Leads(t) /\ i > Len(committed) /\ i <= Len(server[c].log) /\ server[c].log[i] = t
  /\ {f \in Servers : Counts(f, t, i)} \in Majority
  /\ committed' = SubSeq(server[c].log, 1, i)
  /\ UNCHANGED <<server, leader, lost, taken>>

(* ---- states ---- *)
\* A checkpoint of more entries, which the log need not have any more.
Apply(f, i) == /\ f \in Alive /\ HasState(f) /\ i > server[f].state /\ Same(server[f].log, committed, i)
               /\ server[f].base <= server[f].state
               /\ \E base \in {server[f].base, i} : server' = [server EXCEPT ![f].state = i, ![f].base = base]
               /\ UNCHANGED <<leader, committed, lost, taken>>
(* A member is told that it lacks the entries up to i: those before the leader's log, or, where it has no slots for what it
   lacks, all that is committed. RULE giveUpLacking: it gives its state up only where it does not have entry i. *)
GiveUp(f, t, i) == LET c == server[Own(t)] IN
  /\ Leads(t) /\ f \in Alive \ leader[t].adopted /\ server[f].promised <= t /\ HasState(f)
  /\ i \in {c.base, Len(committed)} /\ i <= Len(committed) /\ i > 0 /\ Same(c.log, committed, i)
  /\ On("giveUpLacking") => ~Has(f, c.log, i)
  /\ server' = [server EXCEPT ![f].promised = t, ![f].state = -1]
  /\ UNCHANGED <<leader, committed, lost, taken>>
\* The checkpoint must have what comes before the log here. The log goes on after it, or begins anew with the next leader.
Take(f, g) == /\ f \in Alive /\ g \in Alive /\ ~HasState(f) /\ server[g].state >= server[f].base
              /\ server' = [server EXCEPT ![f].state = server[g].state]
              /\ taken' = TRUE
              /\ UNCHANGED <<leader, committed, lost>>
Lose(f) == /\ f \in Alive /\ Cardinality(lost) < MaxLost /\ lost' = lost \cup {f}
           /\ UNCHANGED <<server, leader, committed, taken>>

Next == \/ \E t \in Term : /\ \A u \in Term : u < t => leader[u].owner # {}
                           /\ \E Q \in Majority : \E c \in Q : Elect(c, t, Q)
        \/ \E t \in Term : Write(t) \/ \E i \in 1..MaxLen : Commit(t, i)
        \/ \E f \in Servers : \/ Lose(f)
                              \/ \E i \in 1..MaxLen : Apply(f, i)
                              \/ \E g \in Servers : Take(f, g)
                              \/ \E t \in Term : Adopt(f, t) \/ Store(f, t) \/ \E i \in 1..MaxLen : GiveUp(f, t, i)
Spec == Init /\ [][Next]_vars

(* ---- properties ---- *)
\* A majority has all that was acknowledged, but for what was damaged: nothing else takes a copy away.
Copies == {f \in Servers : f \in lost \/ Has(f, committed, Len(committed))} \in Majority
\* The last leader has what earlier ones committed.
LeaderComplete == \A t \in Term : Leads(t) /\ (\A u \in Term : u > t => leader[u].owner = {}) =>
                    Same(server[Own(t)].log, committed, Len(committed))
\* This must be violated: a checkpoint is taken over by a member that then counts for a commit.
NotReached == ~(taken /\ lost # {} /\ \A f \in Alive : HasState(f) /\ Has(f, committed, Len(committed)) /\ Len(committed) > 1)
Sym == Permutations(Servers)
=============================================================================
