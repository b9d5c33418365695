(* The rules of docs/model.md, sections 2 to 6, as a transition relation; a rule is a definition or a step of its name.
   Left out: channels, launch latencies and kernel gaps, copies that share a link, several processes. *)
From Coq Require Import List Arith.
Import ListNotations.

(* Section 2. What an SM has, is left with, and what a block takes of it (already rounded up to the units). *)
Record resources := Res { threads : nat; slots : nat; shared : nat; registers : nat }.

Definition plus (a b : resources) : resources :=
  Res (threads a + threads b) (slots a + slots b) (shared a + shared b) (registers a + registers b).
Definition minus (a b : resources) : resources :=
  Res (threads a - threads b) (slots a - slots b) (shared a - shared b) (registers a - registers b).
Definition nothing : resources := Res 0 0 0 0.

(* How much a block takes of its SM: thread slots of whole warps, a block slot, shared memory rounded up to its unit and
   with what is reserved, and registers out of one of the parts into which those of an SM are divided: an even share of
   it, which counts what parts hold as long as all warps take the same. *)
Record allocation := Allocation {
  warp_size : nat; shared_unit : nat; shared_reserved : nat; register_unit : nat; register_part : nat }.
Definition round_up (n unit : nat) : nat := (n + unit - 1) / unit * unit.
Definition takes (a : allocation) (threads shared registers_per_thread : nat) : resources :=
  let slots := round_up threads (warp_size a) in
  let per_warp := round_up (warp_size a * registers_per_thread) (register_unit a) in
  let charged := if per_warp =? 0 then 0 else register_part a / (register_part a / per_warp) in
  Res slots 1 (round_up shared (shared_unit a) + shared_reserved a) (slots / warp_size a * charged).

(* How long a block or copy may run, in ns: any time from [best] to [worst]. *)
Record range := Range { best : nat; worst : nat }.
Definition within (d : nat) (r : range) : Prop := best r <= d /\ d <= worst r.

(* What the host can launch. Records of events and memsets need no engine and no time; a wait is for the record that
   has the
   given number, or for nothing. *)
Inductive work :=
| Kernel (blocks : nat) (need : resources) (lasts : range)
| Copy (engine : nat) (lasts : range)
| Instant
| Wait (record : option nat).

(* An operation: its place in the order of all launches, its stream, the instant of its launch. *)
Record operation := Op { number : nat; stream : nat; launched_at : nat; what : work }.

(* A stream: the place of its EE queue (0 is the highest priority), and whether N1 and N2 concern it. Stream 0 is
   NULL. *)
Record stream_kind := Stream { level : nat; blocking : bool }.
(* [masks] lists for each stream the SMs that its kernels must not use; none where it ends. *)
Record device := Device {
  sms : list resources; engines : nat; levels : nat; streams : list stream_kind; masks : list (list nat) }.

(* Section 3. The queues. *)

(* The queue of a stream, and whether its head has gone on to an EE or CE queue. *)
Record stream_queue := Queue { gone_on : bool; waiting : list operation }.
Inductive place := Sm (i : nat) | Engine (e : nat).
(* What runs: a block on an SM, or a copy on its engine; and when it will end. *)
Record run := Run { of : operation; on : place; ends : nat }.
(* Section 4. What an instant consists of. *)
Inductive phase := Completions | Hosts | Dispatch.

Record state := State {
  now : nat;
  turn : phase;
  launched : nat;  (* operations launched so far *)
  queues : list stream_queue;
  ee : list (list (operation * nat));  (* kernels, with the number of blocks that are not assigned *)
  ce : list (list operation);
  running : list run;  (* in the order in which it was assigned *)
  free : list resources  (* of each SM *)
}.

Fixpoint update {A} (i : nat) (x : A) (l : list A) : list A :=
  match l, i with
  | [], _ => []
  | _ :: rest, 0 => x :: rest
  | y :: rest, S i => y :: update i x rest
  end.

Definition empty (g : device) : state :=
  State 0 Completions 0 (repeat (Queue false []) (length (streams g))) (repeat [] (levels g)) (repeat [] (engines g))
        [] (sms g).

(* R2, R3 and registers: what an SM must have left; R1: that one SM has all of it. *)
Definition R2 (need room : resources) : Prop := threads need <= threads room /\ slots need <= slots room.
Definition R3 (need room : resources) : Prop := shared need <= shared room.
Definition Registers (need room : resources) : Prop := registers need <= registers room.
Definition fits (need room : resources) : Prop := R2 need room /\ R3 need room /\ Registers need room.
Definition R1 (s : state) (need : resources) (i : nat) (room : resources) : Prop :=
  nth_error (free s) i = Some room /\ fits need room.
(* The mask of its stream lets a kernel use an SM. *)
Definition may_use (g : device) (o : operation) (i : nat) : Prop := ~ In i (nth (stream o) (masks g) []).

Definition head_of (s : state) (q : nat) (o : operation) : Prop :=
  exists b rest, nth_error (queues s) q = Some (Queue b (o :: rest)).
Definition empty_or_later (s : state) (o : operation) (other : nat) : Prop :=
  forall h, head_of s other h -> number o < number h.
Definition is_blocking (g : device) (q : nat) : Prop :=
  exists l, nth_error (streams g) q = Some (Stream l true).

(* N1 and N2, for the head [o] of stream [q]. *)
Definition N1 (g : device) (s : state) (q : nat) (o : operation) : Prop :=
  q = 0 -> forall other, other <> 0 -> is_blocking g other -> empty_or_later s o other.
Definition N2 (g : device) (s : state) (q : nat) (o : operation) : Prop :=
  q <> 0 -> is_blocking g q -> empty_or_later s o 0.
(* E2: the record that a wait is for has completed: it is in no stream's queue. *)
Definition E2 (s : state) (o : operation) : Prop :=
  forall r, what o = Wait (Some r) -> forall q k p, nth_error (queues s) q = Some k -> In p (waiting k) -> number p <>
    r.

(* The head of stream [q] is [o], with [rest] behind it, and may go on. *)
Definition ready (g : device) (s : state) (q : nat) (o : operation) (rest : list operation) : Prop :=
  nth_error (queues s) q = Some (Queue false (o :: rest)) /\ N1 g s q o /\ N2 g s q o /\ E2 s o.
(* Section 4: operations that become ready together go on in launch order. *)
Definition first_ready (g : device) (s : state) (q : nat) (o : operation) (rest : list operation) : Prop :=
  ready g s q o rest /\ forall q' o' rest', ready g s q' o' rest' -> q' <> q -> number o < number o'.
Definition all_went_on (g : device) (s : state) : Prop := forall q o rest, ~ ready g s q o rest.

(* X1, A2: the block to be assigned next is of the head of the highest EE queue that is not empty. *)
Definition next_kernel (s : state) (l : nat) (o : operation) (n : nat) (rest : list (operation * nat)) : Prop :=
  nth_error (ee s) l = Some ((o, n) :: rest) /\ forall h, h < l -> nth_error (ee s) h = Some [].
(* C2: the copy that begins next is the head of the CE queue of the first idle engine. *)
Definition idle (s : state) (e : nat) : Prop := forall r, In r (running s) -> on r <> Engine e.
Definition may_begin (s : state) (e : nat) (o : operation) (rest : list operation) : Prop :=
  nth_error (ce s) e = Some (o :: rest) /\ idle s e.
Definition no_copy_begins (s : state) : Prop := forall e o rest, ~ may_begin s e o rest.
Definition no_block_fits (g : device) (s : state) : Prop :=
  forall l o n rest blocks need lasts i room,
    next_kernel s l o n rest -> what o = Kernel blocks need lasts -> may_use g o i -> ~ R1 s need i room.
Definition none_ends_now (s : state) : Prop := forall r, In r (running s) -> ends r <> now s.

(* G3: the head of an EE queue leaves it with its last block. *)
Definition G3 (o : operation) (n : nat) (rest : list (operation * nat)) : list (operation * nat) :=
  match n with 0 => rest | S _ => (o, n) :: rest end.
(* What is over: none of its blocks runs or waits. *)
Definition over (s : state) (o : operation) (still : list run) : Prop :=
  (forall r, In r still -> number (of r) <> number o) /\
  (forall l k n, nth_error (ee s) l = Some k -> In n k -> number (fst n) <> number o).
(* What an SM has left once a block ended on it. *)
Definition given_back (s : state) (r : run) : list resources :=
  match on r, what (of r) with
  | Sm i, Kernel _ need _ =>
      match nth_error (free s) i with Some room => update i (plus room need) (free s) | None => free s end
  | _, _ => free s
  end.

Inductive label :=
| Launch (o : operation)
| GoOn (o : operation)
| Begin (o : operation) (d : nat)
| Assign (o : operation) (sm d : nat)
| End (o : operation) (p : place)
| HostsTurn | DispatchTurn | Again
| Until (t : nat).

Inductive step (g : device) (s : state) : label -> state -> Prop :=
(* 1. Completions, in the order in which what ends had been assigned. *)
| Ends_G4_C4 (before after : list run) (r : run) (rest : list operation) :
    (* G4, C4: the last of an operation takes it out of its stream's queue. *)
    turn s = Completions -> all_went_on g s ->
    running s = before ++ r :: after -> ends r = now s -> (forall b, In b before -> ends b <> now s) ->
    over s (of r) (before ++ after) ->
    nth_error (queues s) (stream (of r)) = Some (Queue true (of r :: rest)) ->
    step g s (End (of r) (on r))
      (State (now s) (turn s) (launched s) (update (stream (of r)) (Queue false rest) (queues s)) (ee s) (ce s)
             (before ++ after) (given_back s r))
| Ends (before after : list run) (r : run) :
    turn s = Completions -> all_went_on g s ->
    running s = before ++ r :: after -> ends r = now s -> (forall b, In b before -> ends b <> now s) ->
    ~ over s (of r) (before ++ after) ->
    step g s (End (of r) (on r))
      (State (now s) (turn s) (launched s) (queues s) (ee s) (ce s) (before ++ after) (given_back s r))
| To_hosts :
    turn s = Completions -> all_went_on g s -> none_ends_now s ->
    step g s HostsTurn
      (State (now s) Hosts (launched s) (queues s) (ee s) (ce s) (running s) (free s))
(* 2. The host acts; what it launches is not restricted. *)
| G1 (o : operation) (b : bool) (before : list operation) :
    turn s = Hosts -> all_went_on g s ->
    number o = launched s -> launched_at o = now s -> (forall n l, what o <> Kernel 0 n l) ->
    nth_error (queues s) (stream o) = Some (Queue b before) ->
    step g s (Launch o)
      (State (now s) (turn s) (S (launched s)) (update (stream o) (Queue b (before ++ [o])) (queues s)) (ee s) (ce s)
             (running s) (free s))
| To_dispatch :
    turn s = Hosts -> all_went_on g s ->
    step g s DispatchTurn
      (State (now s) Dispatch (launched s) (queues s) (ee s) (ce s) (running s) (free s))
(* After each completion and each launch: whatever is ready goes on. *)
| G2_A1 (l : nat) (o : operation) (rest : list operation) (n : nat) (need : resources) (lasts : range) (b : bool)
    (before : list (operation * nat)) :
    first_ready g s (stream o) o rest -> what o = Kernel n need lasts ->
    nth_error (streams g) (stream o) = Some (Stream l b) -> nth_error (ee s) l = Some before ->
    step g s (GoOn o)
      (State (now s) (turn s) (launched s) (update (stream o) (Queue true (o :: rest)) (queues s))
             (update l (before ++ [(o, n)]) (ee s)) (ce s) (running s) (free s))
| C1 (e : nat) (o : operation) (rest before : list operation) (lasts : range) :
    first_ready g s (stream o) o rest -> what o = Copy e lasts -> nth_error (ce s) e = Some before ->
    step g s (GoOn o)
      (State (now s) (turn s) (launched s) (update (stream o) (Queue true (o :: rest)) (queues s)) (ee s)
             (update e (before ++ [o]) (ce s)) (running s) (free s))
| E1 (o : operation) (rest : list operation) :
    (* A memset, a record or a wait is over when it may go on. *)
    first_ready g s (stream o) o rest -> (what o = Instant \/ exists r, what o = Wait r) ->
    step g s (GoOn o)
      (State (now s) (turn s) (launched s) (update (stream o) (Queue false rest) (queues s)) (ee s) (ce s) (running s)
        (free s))
(* 3. Idle copy engines take the heads of their queues; then blocks are assigned. *)
| C2_C3 (e d : nat) (o : operation) (rest : list operation) (lasts : range) :
    turn s = Dispatch -> may_begin s e o rest -> (forall e' o' rest', may_begin s e' o' rest' -> e <= e') ->
    what o = Copy e lasts -> within d lasts ->
    step g s (Begin o d)
      (State (now s) (turn s) (launched s) (queues s) (ee s) (update e rest (ce s))
             (running s ++ [Run o (Engine e) (now s + d)]) (free s))
| X1_A2_R1 (l i d n blocks : nat) (o : operation) (rest : list (operation * nat)) (need room : resources)
    (lasts : range) :
    turn s = Dispatch -> no_copy_begins s -> next_kernel s l o (S n) rest -> what o = Kernel blocks need lasts ->
    may_use g o i -> R1 s need i room -> within d lasts ->
    step g s (Assign o i d)
      (State (now s) (turn s) (launched s) (queues s) (update l (G3 o n rest) (ee s)) (ce s)
             (running s ++ [Run o (Sm i) (now s + d)]) (update i (minus room need) (free s)))
(* 4. If anything of zero length completes at this instant, again; otherwise time passes, over no completion. *)
| Zero_length (r : run) :
    turn s = Dispatch -> no_copy_begins s -> no_block_fits g s -> In r (running s) -> ends r = now s ->
    step g s Again
      (State (now s) Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s))
| Time (t : nat) :
    turn s = Dispatch -> no_copy_begins s -> no_block_fits g s -> none_ends_now s ->
    now s < t -> (forall r, In r (running s) -> t <= ends r) ->
    step g s (Until t)
      (State t Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)).

(* Some steps, one after another. *)
Inductive steps (g : device) : state -> list label -> state -> Prop :=
| Stop (s : state) : steps g s [] s
| Go (s t u : state) (x : label) (xs : list label) : step g s x t -> steps g t xs u -> steps g s (x :: xs) u.
