-------------------------- MODULE SlabLease --------------------------
(* One index of an arena of one server, lent to a group slab after slab: leases, data connections, returns. The group G is
   linearizable: each of its actions is an applied entry. A slab has one extent. A grant g writes to it over data connections
   of its writer; what was posted may land as long as the connection lives, at any time: no window and no fence refuses it,
   only the end of the connection does (Wire = "map": shared memory, where connections outlive the server's process;
   "arena": tcp with one key an arena; "key": tcp with a key a lease, which the end of the lease makes invalid).

   The server's answers and messages may be late. Off names the rules that are removed; {} is the protocol. *)
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS Writers, MaxLease, MaxGrant, MaxConn, MaxServer, MaxLeader, Reader, Lists, Wire, Off
VARIABLES no, st,              \* server, durable: last lease number of the index; FREE, LEASED or RETURNED
          wait, point,         \* server, in memory: connections that a return waits for; fence point of each grant
          alive, tab, nconn,   \* connections <<writer, number>>: bytes can land; the server's process accepted it; last number
          proof,               \* writers: <<writer, connection, grant>>: the writer stores over it
          known, ext, gr,      \* G: lease number of its slab (0: none); the slab's extent; grants
          ret,                 \* returns that were sent: they may arrive at any time, again and again
          call, pend, orphan,  \* leader: lease call under way; AddSlab not applied yet; a call of an earlier leader on its way
          list, wrong,         \* leader: answer to ListSlabs on its way; it took a replica for lost that is there
          rd,                  \* one reader: its lock and the grant whose bytes it looks at
          restarts, leaders    \* bounds
vars == <<no, st, wait, point, alive, tab, nconn, proof, known, ext, gr, ret, call, pend, orphan, list, wrong, rd, restarts, leaders>>
server == <<no, st, wait, point>>   conns == <<alive, tab, nconn, proof>>   group == <<known, ext, gr, ret>>
leader == <<call, pend, orphan, list, wrong>>   rest == <<rd, restarts, leaders>>
On(r) == r \notin Off
Num  == 1..MaxGrant
None == "none"
NoList == {0}
NoPoint == {<<None, 0>>}
NoExt == [st |-> None, g |-> 0, unread |-> FALSE]
FreeExt == [st |-> "FREE", g |-> 0, unread |-> FALSE]
NoGrant == [w |-> None, n |-> 0, live |-> FALSE, left |-> FALSE, fenced |-> FALSE]
Given == {g \in Num : gr[g].n # 0}
Former == IF On("former") THEN alive \ tab ELSE {}          \* connections to earlier processes of the server; a lock tells of them
Unread == On("readerLock") => rd.st \in {None, "asked"}

Init == /\ no = 0 /\ st = "FREE" /\ wait = {} /\ point = [g \in Num |-> NoPoint]
        /\ alive = {} /\ tab = {} /\ nconn = [w \in Writers |-> 0] /\ proof = {}
        /\ known = 0 /\ ext = NoExt /\ gr = [g \in Num |-> NoGrant] /\ ret = {}
        /\ call = None /\ pend = 0 /\ orphan = FALSE /\ list = NoList /\ wrong = FALSE
        /\ rd = [st |-> None, g |-> 0] /\ restarts = 0 /\ leaders = 0

(* ---- a lease, from the call to the applied AddSlab ---- *)
AskLease == /\ call = None /\ pend = 0 /\ known = 0 /\ call' = "asked"
            /\ list' = IF On("list") /\ On("listWhole") THEN NoList ELSE list         \* a list that was asked for before is given up
            /\ UNCHANGED <<server, conns, group, pend, orphan, wrong, rest>>
(* RULE clean: a returned index is lent again when the connections of those that could write there are gone and nobody reads. *)
Clean == st = "FREE" \/ (st = "RETURNED" /\ (On("returnFence") => (wait \cap alive) \cup Former = {}) /\ Unread)
Lend == /\ Clean /\ no < MaxLease /\ no' = no + 1 /\ st' = "LEASED" /\ wait' = {} /\ UNCHANGED point
        /\ \/ call = "asked" /\ call' = "answered" /\ UNCHANGED orphan
           \/ orphan /\ orphan' = FALSE /\ UNCHANGED call
        /\ UNCHANGED <<conns, group, pend, list, wrong, rest>>
Full == /\ call = "asked" /\ ~Clean /\ call' = None
        /\ UNCHANGED <<server, conns, group, pend, orphan, list, wrong, rest>>
Propose == /\ call = "answered" /\ call' = None /\ pend' = no
           /\ UNCHANGED <<server, conns, group, orphan, list, wrong, rest>>
Add == /\ pend # 0 /\ pend' = 0 /\ known' = pend /\ ext' = FreeExt
       /\ UNCHANGED <<server, conns, gr, ret, call, orphan, list, wrong, rest>>
NewLeader == /\ leaders < MaxLeader /\ leaders' = leaders + 1
             /\ call' = None /\ orphan' = (orphan \/ call = "asked") /\ list' = NoList
             /\ UNCHANGED <<server, conns, group, pend, wrong, rd, restarts>>

(* ---- ListSlabs. RULE list: from the question to the judgement no lease call is under way and no AddSlab unapplied ---- *)
List == /\ Lists /\ list = NoList /\ list' = IF st = "LEASED" THEN {no} ELSE {}
        /\ ((On("list") /\ On("listWhole")) => (call = None /\ pend = 0))
        /\ UNCHANGED <<server, conns, group, call, pend, orphan, wrong, rest>>
Judge == /\ list # NoList /\ (On("list") => (call = None /\ pend = 0))
         /\ ret' = ret \cup {[n |-> n, who |-> {}] : n \in {n \in list : n # known /\ (On("returnLogged") => \A r \in ret : r.n # n)}}
         /\ wrong' = (wrong \/ (known # 0 /\ known \notin list /\ no = known /\ st = "LEASED"))
         /\ list' = NoList /\ UNCHANGED <<server, conns, known, ext, gr, call, pend, orphan, rest>>

(* ---- G: grants ---- *)
Cur(w) == <<w, nconn[w]>>
Grant(w) == /\ known # 0 /\ ext.st = "FREE" /\ Cardinality(Given) < MaxGrant
            /\ LET g == Cardinality(Given) + 1 IN
               /\ gr' = [gr EXCEPT ![g] = [NoGrant EXCEPT !.w = w, !.n = known, !.live = TRUE]]
               /\ ext' = [st |-> "GRANTED", g |-> g, unread |-> FALSE]
               /\ proof' = IF Cur(w) \in alive THEN proof \cup {<<w, nconn[w], g>>} ELSE proof
            /\ UNCHANGED <<server, alive, tab, nconn, known, ret, leader, rest>>
Commit == /\ ext.st = "GRANTED" /\ gr[ext.g].live /\ ext' = [ext EXCEPT !.st = "COMMITTED"]
          /\ UNCHANGED <<server, conns, known, gr, ret, leader, rest>>
End(g) == /\ gr[g].live /\ gr' = [gr EXCEPT ![g].live = FALSE]
          /\ ext' = IF ext.st = "GRANTED" THEN [ext EXCEPT !.st = "QUARANTINE"] ELSE ext
          /\ UNCHANGED <<server, conns, known, ret, leader, rest>>
Delete == /\ ext.st = "COMMITTED" /\ ext' = [ext EXCEPT !.st = "QUARANTINE"] /\ gr' = [gr EXCEPT ![ext.g].live = FALSE]
          /\ UNCHANGED <<server, conns, known, ret, leader, rest>>
(* The grantee says that all it posted has completed and that it posts no more. *)
Leave(g) == /\ g \in Given /\ ~gr[g].left /\ gr' = [gr EXCEPT ![g].left = TRUE, ![g].live = FALSE]
            /\ proof' = {p \in proof : p[3] # g}
            /\ ext' = IF ext.g = g /\ ext.st = "GRANTED" THEN [ext EXCEPT !.st = "QUARANTINE"] ELSE ext
            /\ UNCHANGED <<server, alive, tab, nconn, known, ret, leader, rest>>
(* FenceExtents, asked again until done. RULE applied: it is asked when the end of the grant is applied. RULE point: what has to
   go are the connections of the grantee that exist when the server is first asked, and those to its earlier processes. *)
Ask(g) == /\ g \in Given /\ point[g] = NoPoint /\ ~gr[g].fenced /\ (On("applied") => ~gr[g].live)
          /\ point' = [point EXCEPT ![g] = {c \in tab : c[1] = gr[g].w}]
          /\ UNCHANGED <<no, st, wait, conns, group, leader, rest>>
Done(g) == /\ point[g] # NoPoint /\ ~gr[g].fenced /\ (point[g] \cap alive) \cup {c \in Former : c[1] = gr[g].w} = {}
           /\ (On("readNow") \/ Unread)
           /\ gr' = [gr EXCEPT ![g].fenced = TRUE] /\ UNCHANGED <<server, conns, known, ext, ret, leader, rest>>
(* RULE readNow: that nobody reads is answered anew for an extent in QUARANTINE; a fence that stands says nothing about readers. *)
MayFree == /\ ext.st = "QUARANTINE" /\ ~ext.unread /\ Unread /\ ext' = [ext EXCEPT !.unread = TRUE]
           /\ UNCHANGED <<server, conns, known, gr, ret, leader, rest>>
Free == /\ ext.st = "QUARANTINE" /\ (gr[ext.g].fenced \/ gr[ext.g].left) /\ (On("readNow") => ext.unread) /\ ext' = FreeExt
        /\ UNCHANGED <<server, conns, known, gr, ret, leader, rest>>
(* The copy leaves the slab's set (or the slab goes). RULE returnWho: the return, in G's state until it is done, names those that
   may still write there. *)
Remove == /\ known # 0 /\ known' = 0 /\ ext' = NoExt
          /\ gr' = [g \in Num |-> IF gr[g].n = known THEN [gr[g] EXCEPT !.live = FALSE] ELSE gr[g]]
          /\ ret' = ret \cup {[n |-> known, who |-> IF On("returnWho") THEN
                 {gr[g].w : g \in {g \in Given : gr[g].n = known /\ ~gr[g].left /\ ~gr[g].fenced}} ELSE {}]}
          /\ UNCHANGED <<server, conns, leader, rest>>
(* RULE returnLease: a return does nothing unless the index is leased under its number. *)
Return == \E r \in ret : /\ st = "LEASED" /\ (On("returnLease") => no = r.n)
                         /\ st' = "RETURNED" /\ wait' = {c \in tab : c[1] \in r.who}
                         /\ UNCHANGED <<no, point, conns, group, leader, rest>>

(* ---- connections ---- *)
Connect(w) == /\ nconn[w] < MaxConn /\ nconn' = [nconn EXCEPT ![w] = @ + 1]
              /\ alive' = alive \cup {<<w, nconn[w] + 1>>} /\ tab' = tab \cup {<<w, nconn[w] + 1>>}
              /\ proof' = IF On("prove") THEN proof
                          ELSE proof \cup {<<w, nconn[w] + 1, p[3]>> : p \in {p \in proof : p[1] = w}}
              /\ UNCHANGED <<server, group, leader, rest>>
(* RULE prove: over a new connection a writer stores only under grants of which G said, after it was made, that they live. *)
Prove(w) == /\ Cur(w) \in alive
            /\ proof' = proof \cup {<<w, nconn[w], g>> : g \in {g \in Given : gr[g].w = w /\ gr[g].live}} /\ proof' # proof
            /\ UNCHANGED <<server, alive, tab, nconn, group, leader, rest>>
Gone(c) == /\ alive' = alive \ {c} /\ tab' = tab \ {c} /\ proof' = {p \in proof : <<p[1], p[2]>> # c}
Disconnect(c) == Gone(c) /\ UNCHANGED <<server, nconn, group, leader, rest>>
Restart == /\ restarts < MaxServer /\ restarts' = restarts + 1 /\ tab' = {} /\ wait' = {} /\ point' = [g \in Num |-> NoPoint]
           /\ IF Wire = "map" THEN UNCHANGED <<alive, proof>> ELSE alive' = {} /\ proof' = {}
           /\ no' = IF ~On("lastKept") /\ st = "RETURNED" THEN 0 ELSE no          \* off: a number is given again
           /\ UNCHANGED <<st, nconn, group, leader, rd, leaders>>

(* ---- a reader that looks at bytes where they lie. RULE lockFirst: it locks, then asks G whether they are still there ---- *)
Lock == /\ Reader /\ rd.st = None /\ (On("lockFirst") \/ ext.st = "COMMITTED")
        /\ rd' = IF On("lockFirst") THEN [st |-> "locked", g |-> 0] ELSE [st |-> "asked", g |-> ext.g]
        /\ UNCHANGED <<server, conns, group, leader, restarts, leaders>>
Look == /\ rd.st \in {"locked", "asked"}
        /\ rd' = IF rd.st = "asked" THEN [rd EXCEPT !.st = "reads"]
                 ELSE IF ext.st = "COMMITTED" THEN [st |-> "reads", g |-> ext.g] ELSE [st |-> None, g |-> 0]
        /\ UNCHANGED <<server, conns, group, leader, restarts, leaders>>
Unlock == rd.st # None /\ rd' = [st |-> None, g |-> 0] /\ UNCHANGED <<server, conns, group, leader, restarts, leaders>>

Next == \/ AskLease \/ Lend \/ Full \/ Propose \/ Add \/ NewLeader \/ List \/ Judge
        \/ Commit \/ Delete \/ MayFree \/ Free \/ Remove \/ Return \/ Restart \/ Lock \/ Look \/ Unlock
        \/ \E w \in Writers : Grant(w) \/ Connect(w) \/ Prove(w)
        \/ \E g \in Num : End(g) \/ Leave(g) \/ Ask(g) \/ Done(g)
        \/ \E c \in alive : Disconnect(c)
Spec == Init /\ [][Next]_vars
Sym == Permutations(Writers)

(* ---- properties ---- *)
CanLand(g) == /\ \E p \in proof : p[3] = g /\ <<p[1], p[2]>> \in alive
              /\ Wire = "key" => (st = "LEASED" /\ no = gr[g].n)
\* What can land was granted under the present lease, and to nobody else since.
NoStray == \A g \in Given : CanLand(g) => gr[g].n = no /\ (known = no => ext.g = g /\ ext.st # "FREE")
\* A slab that G has, or will have when its log is applied, is leased to it.
Kept == \A n \in {known, pend} \ {0} : no = n /\ st = "LEASED"
\* No replica is taken for lost that is there.
NoFalseLoss == ~wrong
\* What a reader looks at stays what it is.
Lent == rd.st = "reads" => gr[rd.g].n = no /\ (known = no => ext.g = rd.g /\ ext.st \in {"COMMITTED", "QUARANTINE"})
=============================================================================
