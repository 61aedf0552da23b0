---------------------------- MODULE SlabMove ----------------------------
(* A file of one extent is moved to an extent of another slab, as when it is to have another number of copies. G (the
   namespace group) grants the target to itself; the server of each replica of the target reads the source, verifies
   it against the record that it was asked with, and stores it; then one entry of G's log puts the target in the place
   of the source. Meanwhile the file is written, appended to in place, truncated, deleted and made anew.

   All slabs are open here, and each of them has a replica at every server: how the replicas of a slab change is in Slab,
   where a copy is one more grantee, whose grants CLOSE ends. Grants have one sequence of numbers. A client's grant g
   writes the value g; 0 is garbage. What a writer has sent may land at any later time, and what was asked of a copier may
   be done at any later time, again and again: nothing but a fence ends it. Off names the rules that are removed; {} is
   the protocol. *)
EXTENDS Naturals, FiniteSets, Sequences, TLC
CONSTANTS S, E, C,                       \* servers; extents; cells of an extent
          MaxGrant, MaxAsked, Off
VARIABLES n,                             \* number of the last grant
          file,                          \* G: e: its extent, a set; gen, val: generation and committed values; open: its lease lives
          ext,                           \* G, extents: state; last grant; who might still write (writer, copier, nobody); sealed
          gr,                            \* G, grants: extent; first cell it may write less one; copier's?; left
          mem, fence,                    \* servers: bytes; highest refused grant
          done,                          \* completions <<grant, cell, server>> of writers, <<grant, 0, server>> of copies
          asked, lag                     \* copies asked for, ever; the one store of a copier that is under way
vars == <<n, file, ext, gr, mem, fence, done, asked, lag>>
On(r) == r \notin Off
Cell == 1..C
Num  == 1..MaxGrant
NoFile  == [e |-> {}, gen |-> 0, val |-> <<>>, open |-> FALSE]
NoGrant == [e |-> {}, from |-> 0, copy |-> FALSE, left |-> FALSE]
Prefix(e, s, l) == [c \in 1..l |-> mem[s][e][c]]
Live(g) == g # 0 /\ file.open /\ gr[g].e = file.e /\ \A e \in file.e : ext[e].g = g      \* the writer's present grant
Fenced(e) == ext[e].late = "nobody" \/ \A s \in S : fence[s][e] >= ext[e].g
Refused(s, e, g) == fence[s][e] >= g

Init == /\ n = 0 /\ file = NoFile
        /\ ext = [e \in E |-> [st |-> "FREE", g |-> 0, late |-> "nobody", sealed |-> FALSE]]
        /\ gr = [g \in Num |-> NoGrant]
        /\ mem = [s \in S |-> [e \in E |-> [c \in Cell |-> 0]]] /\ fence = [s \in S |-> [e \in E |-> 0]]
        /\ done = {} /\ asked = {} /\ lag = {}

(* ---- a writer ---- *)
Create(e) == /\ file = NoFile /\ ext[e].st = "FREE" /\ n < MaxGrant
             /\ n' = n + 1 /\ file' = [e |-> {e}, gen |-> n + 1, val |-> <<>>, open |-> TRUE]
             /\ ext' = [ext EXCEPT ![e] = [st |-> "GRANTED", g |-> n + 1, late |-> "writer", sealed |-> FALSE]]
             /\ gr' = [gr EXCEPT ![n + 1] = [e |-> {e}, from |-> 0, copy |-> FALSE, left |-> FALSE]]
             /\ UNCHANGED <<mem, fence, done, asked, lag>>
AppendTo(e) == /\ file.e = {e} /\ ~file.open /\ Len(file.val) < C /\ ~ext[e].sealed /\ n < MaxGrant
             /\ n' = n + 1 /\ file' = [file EXCEPT !.open = TRUE]
             /\ ext' = [ext EXCEPT ![e].g = n + 1, ![e].late = "writer"]
             /\ gr' = [gr EXCEPT ![n + 1] = [e |-> {e}, from |-> Len(file.val), copy |-> FALSE, left |-> FALSE]]
             /\ UNCHANGED <<mem, fence, done, asked, lag>>
Land(g, c, s) == /\ g <= n /\ ~gr[g].copy /\ ~gr[g].left /\ c > gr[g].from
                 /\ \E e \in gr[g].e : ~Refused(s, e, g) /\ mem' = [mem EXCEPT ![s][e][c] = g]
                 /\ done' = IF Live(g) THEN done \cup {<<g, c, s>>} ELSE done
                 /\ UNCHANGED <<n, file, ext, gr, fence, asked, lag>>
Commit(g, l) == /\ g <= n /\ Live(g) /\ l > Len(file.val)
                /\ \A c \in (Len(file.val) + 1)..l, s \in S : <<g, c, s>> \in done
                /\ file' = [file EXCEPT !.val = [c \in 1..l |-> IF c <= Len(@) THEN @[c] ELSE g]]
                /\ ext' = [ext EXCEPT ![CHOOSE e \in file.e : TRUE].st = "COMMITTED"]
                /\ UNCHANGED <<n, gr, mem, fence, done, asked, lag>>
(* The writer closes the file and has left, or loses its lease, and may not know it: then the extent is sealed. *)
Close(left) == \E e \in file.e :
                /\ file.open /\ ext[e].st = "COMMITTED" /\ file' = [file EXCEPT !.open = FALSE]
                /\ ext' = [ext EXCEPT ![e].late = IF left THEN "nobody" ELSE "writer", ![e].sealed = ~left]
                /\ gr' = [gr EXCEPT ![ext[e].g].left = left]
                /\ UNCHANGED <<n, mem, fence, done, asked, lag>>
Truncate == \E e \in file.e :
                /\ ~file.open /\ Len(file.val) > 1 /\ file' = [file EXCEPT !.val = SubSeq(@, 1, Len(@) - 1)]
                /\ ext' = [ext EXCEPT ![e].sealed = TRUE]
                /\ UNCHANGED <<n, gr, mem, fence, done, asked, lag>>
Delete == \E e \in file.e :
                /\ file' = NoFile /\ ext' = [ext EXCEPT ![e].st = "QUARANTINE"]
                /\ UNCHANGED <<n, gr, mem, fence, done, asked, lag>>

(* ---- fences ---- *)
Fence(s, e) == /\ ext[e].st = "QUARANTINE" /\ fence[s][e] < ext[e].g
               /\ fence' = [fence EXCEPT ![s][e] = ext[e].g]
               /\ UNCHANGED <<n, file, ext, gr, mem, done, asked, lag>>
Free(e) == /\ ext[e].st = "QUARANTINE" /\ Fenced(e) /\ n < MaxGrant
           /\ ext' = [ext EXCEPT ![e] = [st |-> "FREE", g |-> @.g, late |-> "nobody", sealed |-> FALSE]]
           /\ UNCHANGED <<n, file, gr, mem, fence, done, asked, lag>>

(* ---- moving ---- *)
Begin(e, t) == /\ file.e = {e} /\ ext[e].st = "COMMITTED" /\ ext[t].st = "FREE" /\ n < MaxGrant /\ Cardinality(asked) < MaxAsked
               /\ n' = n + 1
               /\ ext' = [ext EXCEPT ![t] = [st |-> "GRANTED", g |-> n + 1, late |-> "copier", sealed |-> TRUE]]
               /\ gr' = [gr EXCEPT ![n + 1] = [e |-> {t}, from |-> 0, copy |-> TRUE, left |-> FALSE]]
               /\ asked' = asked \cup {[g |-> n + 1, to |-> t, e |-> e, gen |-> file.gen, val |-> file.val]}
               /\ UNCHANGED <<file, mem, fence, done, lag>>
(* A copier reads all cells from any server, and verifies them. What is right at the target already is not read again. *)
Read(a, s, q) == /\ q \in asked /\ lag = {} /\ Prefix(q.e, a, Len(q.val)) = q.val
                 /\ (On("copyFenced") => ~Refused(s, q.to, q.g))
                 /\ lag' = {[s |-> s, q |-> q, x |-> Prefix(q.e, a, Len(q.val))]}
                 /\ UNCHANGED <<n, file, ext, gr, mem, fence, done, asked>>
(* RULE copyFenced: a copier stores under the grant of the target, and while it does so that grant is not fenced (RULE
   storeFenced). So the fence is looked at when it stores. *)
Store == \E m \in lag :
                 /\ lag' = {}
                 /\ IF On("copyFenced") /\ On("storeFenced") /\ Refused(m.s, m.q.to, m.q.g)
                    THEN UNCHANGED <<mem, done>>
                    ELSE /\ mem' = [mem EXCEPT ![m.s][m.q.to] = [c \in Cell |-> IF c <= Len(m.x) THEN m.x[c] ELSE @[c]]]
                         /\ done' = done \cup {<<m.q.g, 0, m.s>>}
                 /\ UNCHANGED <<n, file, ext, gr, fence, asked>>
Here(s, q) == /\ q \in asked /\ Prefix(q.to, s, Len(q.val)) = q.val /\ <<q.g, 0, s>> \notin done
              /\ done' = done \cup {<<q.g, 0, s>>}
              /\ UNCHANGED <<n, file, ext, gr, mem, fence, asked, lag>>
(* The leader restarts or gives up; the next one ends whatever it was granted. *)
GiveUp(t) == /\ ext[t].st = "GRANTED" /\ gr[ext[t].g].copy /\ ext' = [ext EXCEPT ![t].st = "QUARANTINE"]
             /\ UNCHANGED <<n, file, gr, mem, fence, done, asked, lag>>
(* RULE moveAll: all replicas of the target have the copy. RULE moveGen, moveLength: the file still has the extent that was
   copied. RULE moveClosed: nobody writes the file. RULE copierLate: the target is fenced before it is free again, as is an
   extent of which a writer did not say that it left, for what was asked of the copiers may be done still. *)
Move(q) == /\ q \in asked /\ ext[q.to].st = "GRANTED" /\ ext[q.to].g = q.g /\ file.e # {}
           /\ \/ ~On("moveAll") /\ \E s \in S : <<q.g, 0, s>> \in done
              \/ \A s \in S : <<q.g, 0, s>> \in done
           /\ On("moveClosed") => ~file.open
           /\ On("moveGen") => file.gen = q.gen
           /\ On("moveLength") => Len(file.val) = Len(q.val)
           /\ file' = [file EXCEPT !.e = {q.to}, !.gen = q.g]
           /\ ext' = [e \in E |-> IF e = q.to THEN [ext[e] EXCEPT !.st = "COMMITTED", !.late = IF On("copierLate") THEN @ ELSE "nobody"]
                                  ELSE IF e \in file.e THEN [ext[e] EXCEPT !.st = "QUARANTINE"] ELSE ext[e]]
           /\ UNCHANGED <<n, gr, mem, fence, done, asked, lag>>

Next == \/ \E e \in E : Create(e) \/ AppendTo(e) \/ Free(e) \/ GiveUp(e) \/ \E t \in E : Begin(e, t) \/ \E s \in S : Fence(s, e)
        \/ \E g \in Num, c \in Cell : Commit(g, c) \/ \E s \in S : Land(g, c, s)
        \/ Close(TRUE) \/ Close(FALSE) \/ Truncate \/ Delete \/ Store
        \/ \E q \in asked : Move(q) \/ \E s \in S : Here(s, q) \/ \E a \in S : Read(a, s, q)
Spec == Init /\ [][Next]_vars
Sym == Permutations(S) \cup Permutations(E)

(* ---- properties ---- *)
\* Every replica of the file's extent has exactly what was committed.
Readable == \A e \in file.e, s \in S : Prefix(e, s, Len(file.val)) = file.val
\* Nothing of any grant, be it a copier's, can land in a FREE extent.
NoZombie == \A e \in E, g \in 1..n, s \in S :
               (ext[e].st = "FREE" /\ e \in gr[g].e) => gr[g].left \/ Refused(s, e, g)
\* A committed value stays what it is, or goes.
Content == [][\A c \in 1..Len(file.val) : c <= Len(file'.val) => file'.val[c] = file.val[c]]_vars
\* A writer that holds its lease may commit.
Kept == file.open => \E e \in file.e : ~gr[ext[e].g].copy
=============================================================================
