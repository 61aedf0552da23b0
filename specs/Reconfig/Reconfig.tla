------------------------------ MODULE Reconfig ------------------------------
(* The replicated log of OneSidedLog with two more things: members that change, and shared memory, where the end of a grant
   does not stop a store that was begun.

   A change of the members is an election. The catalog has epochs: epoch e has the members Members[e], and is active or not
   yet. A candidate of epoch e becomes the leader of its members; the catalog goes on to epoch e + 1 when e is active. An
   attempt is one candidacy: the term Terms[n], and what it read in the catalog. Two attempts may have the same term. Entry i
   of the leader of attempt n is n, so a log is a sequence of attempts; 0 is garbage. A leader's own copy is like a
   follower's: it stores, then looks at the promise, then counts.

   What is no variable here, and why nothing is lost by that. The catalog: a candidate may act on any earlier content, and
   neither that an epoch is active nor that the next one exists is ever taken back, so both may be there as early as the rules
   allow. Commits: counts only grow, so an entry is committed as soon as a majority has counted it. A leader's log: it is what
   it adopted, and as many entries of its own as it likes. Becoming leader: a candidate that has its promises may lead, and
   its choice is final when it first has its log adopted. Messages that are lost, and servers that stop, are steps that are
   not taken. Stores into memory that nobody uses any more do nothing. Off names the rules that are removed; {} is the
   protocol. *)
EXTENDS Integers, Sequences, FiniteSets, TLC
CONSTANTS a, b, c, d, x, Servers,
          Members, Terms,    \* members of each epoch; term of each attempt. Epoch 1 is active from the start
          MaxLen,
          Torn,              \* TRUE: a frame lands in two parts, and frames in any order; FALSE: whole and in order
          Split,             \* TRUE: to promise, to revoke, and to copy and answer are three steps; FALSE: one
          Rescan,            \* TRUE: a server does not copy; every promise scans the memory again, and a grant gets other memory
          ActiveAt,          \* an epoch is active when a leader has committed an entry of its own ("entry"); a majority has
                             \* adopted its log ("adopted"), which is as good
          PromiseRevokes,    \* TRUE: only a promise revokes, Adopt does not, which is as good
          Off
VARIABLES server,            \* promised, epoch, accepted: durable. log: verified entries, in memory of its own; holder: attempt
                             \* that has the grant (0: none); mem: its frames by index (0: none, 1: torn, 2: whole, 3: not
                             \* the holder's); revoked: grants of lower terms than it; asker, step: the promise that is being made
          attempt            \* epoch, active: what it read; promises; best: log to adopt, the term in which that was accepted;
                             \* led: it is chosen; count[f]: frames counted at f (-1: no grant); checked: see RULE checkLast
vars == <<server, attempt>>
On(r) == r \notin Off
Attempt == DOMAIN Terms
Term(n) == Terms[n]
Max(p, q) == IF p > q THEN p ELSE q
Blank == [i \in 1..MaxLen |-> 0]
IsMajority(S, M) == 2 * Cardinality(S \cap M) > Cardinality(M)
Init == /\ server = [f \in Servers |-> [promised |-> 0, epoch |-> 0, accepted |-> 0, log |-> <<>>, holder |-> 0, mem |-> Blank,
                                        revoked |-> 0, asker |-> 0, step |-> 0]]
        /\ attempt = [n \in Attempt |-> [epoch |-> 0, active |-> FALSE, promises |-> {}, accepted |-> 0, best |-> <<>>,
                                         led |-> FALSE, count |-> [f \in Servers |-> -1], checked |-> {}]]
MembersOf(n) == Members[attempt[n].epoch]
Counted(n, i) == {f \in Servers : attempt[n].count[f] >= i}
(* A leader appends when a majority of the members has adopted its log. *)
Open(n) == attempt[n].led /\ IsMajority(Counted(n, 0), MembersOf(n))
Entry(n, i) == IF i <= Len(attempt[n].best) THEN attempt[n].best[i] ELSE n
Committed(n, i) == attempt[n].led /\ IsMajority(Counted(n, i), MembersOf(n))
(* RULE oldMajority: a candidate needs promises from a majority of its members and, unless it read that the epoch is active,
   also of those of the epoch before. *)
MayLead(n) == /\ attempt[n].epoch # 0 /\ IsMajority(attempt[n].promises, MembersOf(n))
              /\ IF attempt[n].active \/ ~On("oldMajority") THEN TRUE
                 ELSE IsMajority(attempt[n].promises, Members[attempt[n].epoch - 1])
Led(n) == IF attempt[n].led THEN TRUE ELSE MayLead(n)

(* ---- the catalog ---- *)
(* RULE activeLate: see ActiveAt. Off: an epoch is active as soon as it has a leader. *)
IsActive(e) == e = 1 \/ \E n \in Attempt : attempt[n].epoch = e /\ CASE ~On("activeLate")     -> Led(n)
                                                                    [] ActiveAt = "entry"   -> Committed(n, Len(attempt[n].best) + 1)
                                                                    [] ActiveAt = "adopted" -> Open(n)
(* RULE changeActive: the catalog goes on from an active epoch only. *)
Exists(e) == \A k \in 1..(e - 1) : IsActive(k) \/ ~On("changeActive")
Contents == {<<e, active>> \in (DOMAIN Members) \X BOOLEAN : Exists(e) /\ IF active THEN IsActive(e) ELSE e > 1}
Asked(e, active) == Members[e] \cup IF active THEN {} ELSE Members[e - 1]

(* ---- a promise: it is stored, the grant is revoked, the frames are copied and looked at, the candidate has the answer ---- *)
(* RULE frameChecksum: a frame that is not whole ends the log. *)
RECURSIVE ScanFrom(_, _)
ScanFrom(s, i) == IF i > MaxLen \/ s.mem[i] \notin (IF On("frameChecksum") THEN {2} ELSE {1, 2}) THEN <<>>
                  ELSE <<IF s.mem[i] = 2 THEN s.holder ELSE 0>> \o ScanFrom(s, i + 1)
Log(s) == s.log \o ScanFrom(s, Len(s.log) + 1)
Revoke(s, n) == [s EXCEPT !.revoked = Term(n)]
(* RULE freshMemory: memory is not granted again while its former holder may store there. Off: the next grant is of the
   same memory, which is not copied either. *)
Copy(s) == IF Rescan \/ ~On("freshMemory") THEN s ELSE [s EXCEPT !.log = Log(s), !.holder = 0, !.mem = Blank]
Answer(p, s, f) ==
  LET log == Log(s)
      better == s.accepted > p.accepted \/ (s.accepted = p.accepted /\ Len(log) > Len(p.best))
  IN [p EXCEPT !.promises = @ \cup {f}, !.accepted = IF better THEN s.accepted ELSE @, !.best = IF better THEN log ELSE @]
(* RULE epochFence: a server stores the highest epoch with its promise, and refuses lower ones. *)
Prepare(f, n) ==
  /\ ~attempt[n].led /\ server[f].promised < Term(n)
  /\ \E v \in IF attempt[n].epoch = 0 THEN Contents ELSE {<<attempt[n].epoch, attempt[n].active>>} :
       /\ f \in Asked(v[1], v[2]) /\ (On("epochFence") => v[1] >= server[f].epoch)
       /\ LET s == [server[f] EXCEPT !.promised = Term(n), !.epoch = Max(@, v[1])]
              p == [attempt[n] EXCEPT !.epoch = v[1], !.active = v[2]]
          IN IF Split THEN /\ server' = [server EXCEPT ![f] = [s EXCEPT !.asker = n, !.step = 1]]
                           /\ attempt' = [attempt EXCEPT ![n] = p]
             ELSE /\ server' = [server EXCEPT ![f] = Copy(Revoke([s EXCEPT !.asker = 0, !.step = 0], n))]
                  /\ attempt' = [attempt EXCEPT ![n] = Answer(p, server[f], f)]
(* RULE revokeFirst: it revokes, then it copies. Off: the other way round. *)
First(f) == /\ server[f].step = 1 /\ ~attempt[server[f].asker].led /\ UNCHANGED attempt
            /\ LET s == [server[f] EXCEPT !.step = 2] IN
               server' = [server EXCEPT ![f] = IF On("revokeFirst") THEN Revoke(s, s.asker) ELSE Copy(s)]
Second(f) == /\ server[f].step = 2 /\ ~attempt[server[f].asker].led
             /\ LET n == server[f].asker  s == [server[f] EXCEPT !.step = 0, !.asker = 0] IN
                /\ server' = [server EXCEPT ![f] = IF On("revokeFirst") THEN Copy(s) ELSE Revoke(s, n)]
                /\ attempt' = [attempt EXCEPT ![n] = Answer(@, server[f], f)]

(* ---- the leader has its log adopted: log, term, epoch, new grant ---- *)
Adopt(f, n) ==
  /\ Led(n) /\ f \in MembersOf(n) /\ attempt[n].count[f] = -1
  /\ server[f].promised <= Term(n) /\ (On("epochFence") => server[f].epoch <= attempt[n].epoch)
  /\ server' = [server EXCEPT ![f] = [@ EXCEPT !.promised = Term(n), !.epoch = Max(@, attempt[n].epoch), !.accepted = Term(n),
                                               !.log = attempt[n].best, !.holder = n, !.mem = Blank, !.asker = 0, !.step = 0,
                                               !.revoked = IF PromiseRevokes THEN @ ELSE Term(n)]]
  /\ attempt' = [attempt EXCEPT ![n] = [@ EXCEPT !.led = TRUE, !.promises = {}, !.accepted = 0,
                                                 !.count[f] = Len(attempt[n].best)]]

(* ---- a leader appends: it stores a frame, in one part or two, looks whether its grant is revoked, and counts ---- *)
Store(f, n, i) ==
  /\ server[f].holder = n /\ Open(n) /\ i > Len(server[f].log) /\ server[f].mem[i] # 2 /\ UNCHANGED attempt
  /\ ~Torn => \A j \in (Len(server[f].log) + 1)..(i - 1) : server[f].mem[j] = 2
  /\ server' = [server EXCEPT ![f].mem[i] = IF Torn /\ @ = 0 THEN 1 ELSE 2]
(* RULE checkLast: it looks after the whole frame is stored. Off: before. *)
CheckEarly(f, n) == /\ ~On("checkLast") /\ Open(n) /\ attempt[n].count[f] >= 0 /\ f \notin attempt[n].checked
                    /\ server[f].revoked <= Term(n)
                    /\ attempt' = [attempt EXCEPT ![n].checked = @ \cup {f}] /\ UNCHANGED server
CountNext(f, n) ==
  LET i == attempt[n].count[f] + 1 IN
  /\ Open(n) /\ i > 0 /\ i <= MaxLen /\ (server[f].holder = n => server[f].mem[i] = 2)
  /\ IF On("checkLast") THEN server[f].revoked <= Term(n) ELSE f \in attempt[n].checked
  /\ attempt' = [attempt EXCEPT ![n].count[f] = i, ![n].checked = @ \ {f}] /\ UNCHANGED server
(* A store that is late lands in the frame of the next holder of the same memory. *)
Stray(f, n, i) == /\ ~On("freshMemory") /\ Open(n) /\ attempt[n].count[f] \in 0..(i - 1) /\ i > Len(attempt[n].best)
                  /\ server[f].holder \notin {0, n} /\ i > Len(server[f].log) /\ server[f].mem[i] # 3
                  /\ server' = [server EXCEPT ![f].mem[i] = 3] /\ UNCHANGED attempt

Next == \E f \in Servers : \/ First(f) \/ Second(f)
                           \/ \E n \in Attempt : \/ Prepare(f, n) \/ Adopt(f, n) \/ CheckEarly(f, n) \/ CountNext(f, n)
                                                 \/ \E i \in 1..MaxLen : Store(f, n, i) \/ Stray(f, n, i)
Spec == Init /\ [][Next]_vars

(* ---- properties ---- *)
\* What two leaders committed is the same.
Agreement == \A m, n \in Attempt : \A i \in 1..MaxLen : Committed(m, i) /\ Committed(n, i) => Entry(m, i) = Entry(n, i)
\* A leader has what earlier ones committed, also what they commit after it was chosen.
LeaderComplete == \A m, n \in Attempt : Led(n) /\ Term(m) < Term(n) =>
  \A i \in 1..MaxLen : Committed(m, i) => i <= Len(attempt[n].best) /\ attempt[n].best[i] = Entry(m, i)
\* No leader adopts a frame that is not whole, or that another leader stored.
NoGarbage == \A n \in Attempt : Led(n) => \A i \in 1..Len(attempt[n].best) : attempt[n].best[i] # 0
\* A term has one leader, whatever the epoch.
OneLeader == \A m, n \in Attempt : m # n /\ Led(m) /\ Led(n) => Term(m) # Term(n)
\* This must be violated: a second leader of a new epoch that read that the epoch is active, after the first one.
NotReached == \A m, n \in Attempt : ~(/\ attempt[n].active /\ attempt[n].epoch > 1 /\ attempt[m].epoch = attempt[n].epoch
                                      /\ Open(n) /\ Open(m) /\ Term(m) < Term(n))

(* ---- sizes ---- *)
Same     == <<{a, b, c}>>
OneNew   == <<{a, b, c}, {a, b, d}>>                   \* any other choice is this one with other names
OneBack  == <<{a, b, c}, {a, b, d}, {a, c, d}>>        \* and what was removed comes back
TwoNew   == <<{a, b, c}, {a, d, x}>>
T12      == <<1, 2>>
T122     == <<1, 2, 2>>
T123     == <<1, 2, 3>>
Sym == {p \in Permutations(Servers) : \A e \in DOMAIN Members : {p[s] : s \in Members[e]} = Members[e]}
=============================================================================
