---------------------------- MODULE Slab ----------------------------
(* One replicated slab: grants to writers who write one-sided to all replicas, close-copy-switch repair, fencing before
   reuse. G (the namespace group) is linearizable: each of its actions is one step. A slot s is one index of an arena of
   a server; a copy <<s, n>> is what the slot holds while it is leased under lease number n. A replica of the slab is a
   copy; it counts iff the server's table has the slot leased under that number. What makes a leased slot clean (writers
   and readers of earlier leases are gone) is in SlabLease.

   A grant (e, g) is the g-th of extent e. It writes the value g in each cell beyond what was committed when it was given;
   0 is garbage. What a writer has sent may land at any later time, and it may send a cell again: Land is enabled for
   every grant ever given at every copy that the grant named, until the copy's server refuses it or the grantee has said
   that it left. Commit messages may be late at will, too. The end of a lease and a wrong suspicion are steps of G that
   may happen at any time. Off names the rules that are removed; {} is the protocol. *)
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS S, R, W, E, C,                 \* slots; replicas at first and in the end; extents; cells of an extent
          MaxGrant, MaxV, MaxLease, MaxCrash, MaxLoss, Off
VARIABLES open, v, rh,                   \* G, the slab: OPEN?; version; rh[u] = its copies at version u
          ext, gr, rec,                  \* G, extents: state; grants; rec[e][c] = grant that committed the cell (0: none)
          up, held, last, mem, fence,    \* slots: server runs?; lease number (0: none), last one given; bytes; refused grants
          done,                          \* writers: completions <<cell, slot>> of the extent's last grant
          rep, lag,                      \* repair: destination and cells copied; the one cell copy under way
          crashes, losses, loss          \* bounds; loss = copies whose memory was lost since all were intact
vars == <<open, v, rh, ext, gr, rec, up, held, last, mem, fence, done, rep, lag, crashes, losses, loss>>
slab == <<open, v, rh>>      exts == <<ext, gr, rec, done>>   serv == <<up, held, last, mem, fence>>
repv == <<rep, lag>>         cnt  == <<crashes, losses, loss>>
On(r) == r \notin Off
Cell == 1..C
Num  == 1..MaxGrant
Blank   == [c \in Cell |-> 0]
NoMem   == [e \in E |-> Blank]
NoFence == [e \in E |-> 0]
NoRep   == [d |-> {}, cp |-> {}, need |-> {}, lost |-> FALSE]
NoGrant == [v |-> 0, gen |-> 0, from |-> 0, left |-> FALSE]
Need == {p \in E \X (1..MaxGrant) \X Cell : ext[p[1]].gen = p[2] /\ rec[p[1]][p[3]] # 0}   \* committed (extent, generation, cell)
reps == rh[v]
Held(c) == held[c[1]] = c[2]
(* RULE leaseNo: a replica counts iff the server has the slot leased under the replica's lease number. *)
Intact(c) == c \in reps /\ IF On("leaseNo") THEN Held(c) ELSE held[c[1]] # 0
Ended(x) == [x EXCEPT !.live = FALSE, !.st = IF @ = "GRANTED" THEN "QUARANTINE" ELSE @]
Last(e) == gr[e][ext[e].num]
(* RULE fenceNumber: a fence names the grant's number. Off: the record's generation; it must not refuse the generation of a
   record that lives and may be appended to. *)
FenceOf(e) == IF On("fenceNumber") THEN ext[e].num ELSE IF ext[e].st = "COMMITTED" THEN ext[e].gen - 1 ELSE ext[e].gen
Refused(s, e, g) == fence[s][e] >= IF On("fenceNumber") THEN g ELSE gr[e][g].gen
(* RULE fenceLost: a server that is away has to answer, too, because it may come back. *)
Answered(c, e) == fence[c[1]][e] >= FenceOf(e) \/ ~Held(c) \/ (~On("fenceLost") /\ ~up[c[1]])
Fenced(e) == LET F == {c \in reps : Answered(c, e)}                                    \* a lease that is over needs no fence
                 M == IF On("fenceNew") THEN reps ELSE reps \cap rh[Last(e).v]           \* off: only copies that the grant named
             IN ~On("fence") \/ Last(e).left \/ (IF On("fenceAll") THEN M \subseteq F ELSE F # {})

Init == /\ open = TRUE /\ v = 1
        /\ \E X \in SUBSET S : /\ Cardinality(X) = R
                               /\ rh = [u \in 1..MaxV |-> IF u = 1 THEN X \X {1} ELSE {}]
                               /\ held = [s \in S |-> IF s \in X THEN 1 ELSE 0]
                               /\ last = held
        /\ ext = [e \in E |-> [st |-> "FREE", gen |-> 0, num |-> 0, live |-> FALSE]]
        /\ gr = [e \in E |-> [g \in Num |-> NoGrant]] /\ rec = [e \in E |-> Blank]
        /\ done = [e \in E |-> {}]
        /\ up = [s \in S |-> TRUE] /\ mem = [s \in S |-> NoMem] /\ fence = [s \in S |-> NoFence]
        /\ rep = NoRep /\ lag = {} /\ crashes = 0 /\ losses = 0 /\ loss = 0

(* ---- grants, writes, commits ---- *)
Grant(e) == /\ ext[e].st = "FREE" /\ ext[e].num < MaxGrant /\ (On("grantOpen") => open)
            /\ ext' = [ext EXCEPT ![e] = [st |-> "GRANTED", gen |-> @.gen + 1, num |-> @.num + 1, live |-> TRUE]]
            /\ gr' = [gr EXCEPT ![e][ext[e].num + 1] = [v |-> v, gen |-> ext[e].gen + 1, from |-> 0, left |-> FALSE]]
            /\ UNCHANGED <<slab, rec, done, serv, repv, cnt>>
(* RULE append: appending in place is a new grant on the same record; the one before it left or is fenced. *)
Append(e) == /\ ext[e].st = "COMMITTED" /\ ~ext[e].live /\ ext[e].num < MaxGrant /\ (On("grantOpen") => open)
             /\ rec[e][C] = 0 /\ (On("appendFenced") => Fenced(e))
             /\ ext' = [ext EXCEPT ![e].num = @ + 1, ![e].live = TRUE]
             /\ gr' = [gr EXCEPT ![e][ext[e].num + 1] =
                         [v |-> v, gen |-> ext[e].gen, from |-> Cardinality({c \in Cell : rec[e][c] # 0}), left |-> FALSE]]
             /\ UNCHANGED <<slab, rec, done, serv, repv, cnt>>
(* A write of grant (e, g) lands at slot s: at any time, by the grantee or a zombie, in any cell of the grant (RULE oneValue:
   a cell gets one content per grant, so sending it again is harmless). It is refused by a server that is down, that does
   not hold the copy that the grant named, or that fenced the grant. *)
CanLand(e, g, c) == c \in rh[gr[e][g].v] /\ Held(c) /\ ~Refused(c[1], e, g) /\ ~gr[e][g].left
Land(e, g, c, s) == /\ g <= ext[e].num /\ c > gr[e][g].from /\ up[s] /\ held[s] # 0 /\ CanLand(e, g, <<s, held[s]>>)
                    /\ \E x \in IF On("oneValue") THEN {g} ELSE {g, g + 10} : mem' = [mem EXCEPT ![s][e][c] = x]
                    /\ done' = IF (g = ext[e].num /\ ext[e].live) \/ ~On("commitLease")
                               THEN [done EXCEPT ![e] = @ \cup {<<g, c, <<s, held[s]>>>>}] ELSE done
                    /\ UNCHANGED <<slab, ext, gr, rec, up, held, last, fence, repv, cnt>>
Forget(e) == IF On("commitLease") THEN {} ELSE done[e]             \* completions of an ended grant are of no use
Commit(e, g, l) == /\ On("commitLease") => (ext[e].live /\ g = ext[e].num)     \* the grant lives
                   /\ On("commitOpen") => open
                   /\ 1 <= g /\ g <= ext[e].num /\ gr[e][g].from < l /\ (rec[e][l] = 0 \/ ~On("commitLease"))
                   /\ \A c \in (gr[e][g].from + 1)..l :
                        IF On("commitAll") THEN \A r \in rh[gr[e][g].v] : <<g, c, r>> \in done[e]
                                           ELSE \E r \in rh[gr[e][g].v] : <<g, c, r>> \in done[e]
                   /\ rec' = [rec EXCEPT ![e] = [c \in Cell |-> IF gr[e][g].from < c /\ c <= l THEN g ELSE @[c]]]
                   /\ ext' = [ext EXCEPT ![e].st = "COMMITTED"]
                   /\ UNCHANGED <<slab, gr, done, serv, repv, cnt>>
EndLease(e) == /\ ext[e].live /\ ext' = [ext EXCEPT ![e] = Ended(@)]
               /\ done' = [done EXCEPT ![e] = Forget(e)]
               /\ UNCHANGED <<slab, gr, rec, serv, repv, cnt>>
(* The grantee says that it leaves: all it posted has completed everywhere, and it posts no more. No fence is needed then. *)
Leave(e) == /\ ext[e].num > 0 /\ ~Last(e).left /\ (~ext[e].live \/ ext[e].st = "COMMITTED") /\ ext[e].st # "FREE"
            /\ ext' = [ext EXCEPT ![e].live = FALSE]
            /\ gr' = [gr EXCEPT ![e][ext[e].num].left = TRUE]
            /\ done' = [done EXCEPT ![e] = Forget(e)]
            /\ UNCHANGED <<slab, rec, serv, repv, cnt>>
Delete(e) == /\ ext[e].st = "COMMITTED" /\ ext' = [ext EXCEPT ![e].st = "QUARANTINE", ![e].live = FALSE]
             /\ rec' = [rec EXCEPT ![e] = Blank]
             /\ done' = [done EXCEPT ![e] = Forget(e)]
             /\ UNCHANGED <<slab, gr, serv, repv, cnt>>
(* A fence is kept with the slot's memory: it also refuses windows asked for later, and outlives a restart. *)
Fence(s, e) == /\ ext[e].st \in {"QUARANTINE", "COMMITTED"} /\ ~ext[e].live /\ up[s] /\ <<s, held[s]>> \in reps
               /\ fence[s][e] < FenceOf(e) /\ fence' = [fence EXCEPT ![s][e] = FenceOf(e)]
               /\ UNCHANGED <<slab, exts, up, held, last, mem, repv, cnt>>
Free(e) == /\ ext[e].st = "QUARANTINE" /\ ext[e].num < MaxGrant /\ Fenced(e)
           /\ ext' = [ext EXCEPT ![e].st = "FREE"] /\ UNCHANGED <<slab, gr, rec, done, serv, repv, cnt>>

(* ---- close, copy, switch, open ---- *)
Close == /\ open /\ open' = FALSE                                            \* RULE seal: ends every grant of the slab
         /\ ext' = IF On("seal") THEN [e \in E |-> Ended(ext[e])] ELSE ext
         /\ done' = IF On("seal") THEN [e \in E |-> Forget(e)] ELSE done
         /\ UNCHANGED <<v, rh, gr, rec, serv, repv, cnt>>
StopRepair == rep' = NoRep /\ UNCHANGED lag                                  \* one attempt = one lease, in one closed period
Open == /\ ~open /\ open' = TRUE
        /\ IF On("copyClosed") THEN StopRepair ELSE UNCHANGED repv
        /\ UNCHANGED <<v, rh, exts, serv, cnt>>
Abort == rep.d # {} /\ StopRepair /\ UNCHANGED <<slab, exts, serv, cnt>>      \* repairer dies or gives up; another starts over
(* RULE freshLease: each attempt leases a slot under a new number. Off: a copy that was in the set before comes back. *)
Prepare(d) == /\ (On("copyClosed") => ~open) /\ rep.d = {} /\ v < MaxV /\ up[d]
              /\ \/ /\ held[d] = 0 /\ last[d] < MaxLease
                    /\ last' = [last EXCEPT ![d] = @ + 1] /\ held' = [held EXCEPT ![d] = last[d] + 1]
                 \/ ~On("freshLease") /\ held[d] # 0 /\ <<d, held[d]>> \notin reps /\ UNCHANGED <<last, held>>
              /\ rep' = [d |-> {<<d, held'[d]>>}, cp |-> {}, need |-> IF On("needNow") THEN {} ELSE Need, lost |-> FALSE]
              /\ UNCHANGED <<slab, exts, up, mem, fence, lag, cnt>>
PullRead(a, e, c) == /\ rep.d # {} /\ lag = {} /\ up[a] /\ held[a] # 0 /\ <<a, held[a]>> \notin rep.d
                     /\ <<e, ext[e].gen, c>> \in Need \ rep.cp
                     /\ lag' = {[d |-> d, e |-> e, c |-> c, gen |-> ext[e].gen, x |-> mem[a][e][c]] : d \in rep.d}
                     /\ UNCHANGED <<slab, exts, serv, rep, cnt>>
(* RULE pull: the destination writes only while it holds the slot under the attempt's lease; what is late does nothing. *)
PullWrite == \E m \in lag : LET s == m.d[1] IN
                 /\ lag' = {}
                 /\ IF up[s] /\ held[s] # 0 /\ (On("pullLease") => Held(m.d) /\ m.d \in rep.d)
                    THEN /\ mem' = [mem EXCEPT ![s][m.e][m.c] = m.x]
                         /\ rep' = IF m.d \in rep.d /\ (On("verify") => m.x = rec[m.e][m.c])    \* checksum of G's record
                                   THEN [rep EXCEPT !.cp = @ \cup ({<<m.e, m.gen, m.c>>} \cap Need)] ELSE rep
                    ELSE UNCHANGED <<mem, rep>>
                 /\ UNCHANGED <<slab, exts, up, held, last, fence, cnt>>
(* G replaces one copy (dead or moving) by d, one for one, or adds d while there are fewer than W. It does not know whether d
   or others lost their memory meanwhile. *)
Switch(x) == \E d \in rep.d : LET new == (reps \ x) \cup {d} IN
             /\ ~open /\ v < MaxV /\ x \subseteq reps /\ Cardinality(x) = (IF Cardinality(reps) < W THEN 0 ELSE 1)
             /\ (IF On("needNow") THEN Need ELSE Need \cap rep.need) \subseteq rep.cp   \* all records of the closed slab
             /\ v' = v + 1 /\ rh' = [rh EXCEPT ![v + 1] = new]
             /\ loss' = IF rep.lost THEN loss + 1 ELSE IF \A c \in new \ {d} : Intact(c) THEN 0 ELSE loss
             /\ StopRepair /\ UNCHANGED <<open, exts, serv, crashes, losses>>
Shrink(x) == /\ ~On("oneForOne") /\ ~open /\ v < MaxV /\ x \subseteq reps /\ Cardinality(x) = 1 /\ reps # x  \* control: drop a suspect
             /\ v' = v + 1 /\ rh' = [rh EXCEPT ![v + 1] = reps \ x]
             /\ StopRepair /\ UNCHANGED <<open, exts, serv, cnt>>

(* ---- servers ---- *)
Crash(s) == /\ up[s] /\ crashes < MaxCrash /\ up' = [up EXCEPT ![s] = FALSE] /\ crashes' = crashes + 1
            /\ UNCHANGED <<slab, exts, held, last, mem, fence, repv, losses, loss>>
(* What lost its memory comes back as a new server. Its slots are modelled by the same slot with higher lease numbers. RULE
   lastKept: a number is never given twice. *)
Lose(s) == /\ losses < MaxLoss /\ losses' = losses + 1 /\ held[s] # 0
           /\ up' = [up EXCEPT ![s] = FALSE] /\ held' = [held EXCEPT ![s] = 0] /\ mem' = [mem EXCEPT ![s] = NoMem]
           /\ last' = IF On("lastKept") THEN last ELSE [last EXCEPT ![s] = 0]
           /\ fence' = [fence EXCEPT ![s] = NoFence] /\ loss' = IF <<s, held[s]>> \in reps THEN loss + 1 ELSE loss
           /\ rep' = [rep EXCEPT !.lost = @ \/ <<s, held[s]>> \in rep.d]
           /\ UNCHANGED <<slab, exts, lag, crashes>>
Restart(s) == /\ ~up[s] /\ up' = [up EXCEPT ![s] = TRUE]
              /\ fence' = IF On("fenceKept") THEN fence ELSE [fence EXCEPT ![s] = NoFence]
              /\ UNCHANGED <<slab, exts, held, last, mem, repv, cnt>>
(* Control: a copy that is held is taken (back) into the set on the server's word. *)
TakeBack(s) == /\ ~On("return") /\ up[s] /\ held[s] # 0 /\ <<s, held[s]>> \notin reps
               /\ rh' = [rh EXCEPT ![v] = @ \cup {<<s, held[s]>>}]
               /\ UNCHANGED <<open, v, exts, serv, repv, cnt>>
(* G returns copy <<s, n>>, which is neither in the set nor prepared; the message may come late, again and again. RULE
   returnLease: it does nothing unless the slot is leased under that number. *)
Return(s, n) == /\ up[s] /\ n <= last[s] /\ <<s, n>> \notin reps \cup rep.d
                /\ held[s] # 0 /\ (On("returnLease") => held[s] = n)
                /\ held' = [held EXCEPT ![s] = 0] /\ mem' = [mem EXCEPT ![s] = NoMem] /\ fence' = [fence EXCEPT ![s] = NoFence]
                /\ UNCHANGED <<slab, exts, up, last, repv, cnt>>

Next == \/ \E e \in E : Grant(e) \/ Append(e) \/ EndLease(e) \/ Leave(e) \/ Delete(e) \/ Free(e)
        \/ \E e \in E, g \in Num, c \in Cell : Commit(e, g, c) \/ \E s \in S : Land(e, g, c, s)
        \/ \E s \in S, e \in E : Fence(s, e) \/ \E c \in Cell : PullRead(s, e, c)
        \/ Close \/ Open \/ Abort \/ PullWrite
        \/ Switch({}) \/ \E c \in reps : Switch({c}) \/ Shrink({c})
        \/ \E s \in S : Prepare(s) \/ Crash(s) \/ Lose(s) \/ Restart(s) \/ TakeBack(s) \/ \E n \in 1..MaxLease : Return(s, n)
Spec == Init /\ [][Next]_vars
Sym == Permutations(S) \cup Permutations(E)

(* ---- properties ---- *)
\* P1: every replica that counts has exactly the committed bytes of every record ...
Readable == \A e \in E, k \in Cell, c \in reps : (rec[e][k] # 0 /\ Intact(c)) => mem[c[1]][e][k] = rec[e][k]
\* ... and there is one, with fewer than R losses since all replicas were intact.
Durable  == loss < R => \E c \in reps : Intact(c) /\ Held(c)
\* P2: a committed cell, read with ANY version u of the slab since its grant, from any copy of that version that is still
\* held: the right bytes, even without a checksum. (u = v: the record is current.)
OldReads == \A e \in E, k \in Cell : rec[e][k] # 0 =>
               \A u \in gr[e][rec[e][k]].v..v : \A c \in rh[u] : Held(c) => mem[c[1]][e][k] = rec[e][k]
\* P3: no write of an earlier grant, and none of any grant to a FREE extent, can land at a replica or at the destination.
NoZombie == \A e \in E, g \in Num, c \in reps \cup rep.d :
               (g < ext[e].num \/ (g = ext[e].num /\ ext[e].st = "FREE")) => ~CanLand(e, g, c)
\* P4: a record's cells are those of its grants, in order; nothing is committed for an extent that has no record.
OneRecord == \A e \in E, c \in Cell : rec[e][c] # 0 =>
               /\ ext[e].st = "COMMITTED" /\ gr[e][rec[e][c]].gen = ext[e].gen
               /\ c > 1 => rec[e][c - 1] # 0 /\ rec[e][c - 1] <= rec[e][c]
\* P5: the set changes only while CLOSED, with a new version; a committed cell stays what it is or goes with its record.
SetClosed  == [][rh'[v] = rh[v] /\ (v' # v => ~open /\ ~open')]_vars
RecordLife == [][\A e \in E, c \in Cell : rec[e][c] # 0 => rec'[e][c] = rec[e][c] \/ rec'[e] = Blank]_vars
=============================================================================
