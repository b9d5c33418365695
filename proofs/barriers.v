(* Kernels whose blocks wait on the GPU for one another (persistent kernels, grid barriers, counters): what a standstill
   is. There are no times: of the steps below that are possible any may be the next. So a run with times is one of these
   runs, and does not stand still where none of these does, as long as its rules let something that is possible happen
   sooner or later. *)
From Coq Require Import List Arith Bool Lia Relations.
Import ListNotations.

(* What a block does from its beginning to its end: it raises a counter by one, or goes on only once a counter is at
   least so high. *)
Inductive point := Signal (c : nat) | Await (c v : nat).

(* Kernels have numbers. Each has so many blocks, which all run its points in order. So many are assigned at a time: one,
   those of a cluster, or all of a cooperative kernel; [together] says on which SMs these may be (clusters in one GPC).
   A kernel waits in a queue; a queue has an owner (a green context, or the whole GPU), and a level, of which 0 is the
   most urgent. A kernel may enter its queue once the kernels that it is [after]
   have ended (stream order, events, edges of a graph, hosts that wait), those that it is [behind] have entered theirs
   (the order of submission to one channel), and each counter that it [needs] is so high (the triggers of a programmatic
   launch, a stream or a host that waits for a value). [fits sm there k]: a block of [k] has room on this SM beside so
   many blocks of each kernel. *)
Record system := System {
  kernels : list nat;
  blocks_of : nat -> nat;
  points : nat -> list point;
  group : nat -> nat;
  together : nat -> list nat -> Prop;
  queue : nat -> nat;
  owner : nat -> nat;
  level : nat -> nat;
  after : nat -> list nat;
  behind : nat -> list nat;
  needs : nat -> list (nat * nat);
  may_use : nat -> nat -> Prop;
  fits : nat -> (nat -> nat) -> nat -> Prop
}.

(* What is asked of every system: a kernel has a block, and whole groups of them; it waits for kernels that there are;
   and more blocks on an SM never make room for one. *)
Record sane (g : system) : Prop := {
  sane_kernels : NoDup (kernels g);
  sane_blocks : forall k, In k (kernels g) -> 0 < blocks_of g k;
  sane_groups : forall k, In k (kernels g) -> exists m, blocks_of g k = m * group g k;
  sane_after : forall k j, In k (kernels g) -> In j (after g k) -> In j (kernels g);
  sane_behind : forall k j, In k (kernels g) -> In j (behind g k) -> In j (kernels g);
  sane_fits : forall sm a b k, (forall j, a j <= b j) -> fits g sm b k -> fits g sm a k
}.

(* A block: of which kernel, on which SM, and how many of its points it has passed; its end counts as one more. *)
Record block := Block { of : nat; on : nat; passed : nat }.
(* The kernels that have entered their queues, in this order, and the blocks that have been assigned. *)
Record state := State { entered : list nat; blocks : list block }.
Definition beginning : state := State [] [].

Definition count {A} (f : A -> bool) (l : list A) : nat := length (filter f l).
Definition assigned (s : state) (k : nat) : nat := count (fun b => of b =? k) (blocks s).
Definition over (g : system) (b : block) : bool := length (points g (of b)) <? passed b.
(* All blocks of a kernel have ended. *)
Definition ended (g : system) (s : state) (k : nat) : Prop :=
  blocks_of g k <= count (fun b => (of b =? k) && over g b) (blocks s).
Definition all_ended (g : system) (s : state) : Prop := forall k, In k (kernels g) -> ended g s k.

(* How often a block of [k] has raised counter [c] once it has passed [p] points; and how high the counter is. *)
Definition raises (g : system) (k c q : nat) : bool :=
  match nth_error (points g k) q with Some (Signal d) => d =? c | _ => false end.
Definition sent (g : system) (k c p : nat) : nat := count (raises g k c) (seq 0 p).
Definition counter (g : system) (s : state) (c : nat) : nat :=
  list_sum (map (fun b => sent g (of b) c (passed b)) (blocks s)).

(* The blocks that are on SMs, as pairs of kernel and SM; and how many of each kernel are on one SM. *)
Definition resident (g : system) (s : state) : list (nat * nat) :=
  map (fun b => (of b, on b)) (filter (fun b => negb (over g b)) (blocks s)).
Definition there (sm : nat) (l : list (nat * nat)) : nat -> nat :=
  fun k => count (fun x => (fst x =? k) && (snd x =? sm)) l.
(* Blocks that can come to be on SMs together: each, the last first, has room beside those before it. *)
Inductive placement (g : system) : list (nat * nat) -> Prop :=
| Nothing : placement g []
| One_more (k sm : nat) (l : list (nat * nat)) :
    placement g l -> may_use g k sm -> fits g sm (there sm l) k -> placement g ((k, sm) :: l).

(* The kernels of a queue: each leaves it with its last block. Only the first of a queue is served, and only while the
   more urgent queues of the same owner are empty. *)
Definition waiting (g : system) (s : state) (q : nat) : list nat :=
  filter (fun k => (queue g k =? q) && (assigned s k <? blocks_of g k)) (entered s).
Definition above (g : system) (q r : nat) : Prop := owner g q = owner g r /\ level g q < level g r.
Definition next_kernel (g : system) (s : state) (k : nat) : Prop :=
  (exists rest, waiting g s (queue g k) = k :: rest) /\ forall q, above g q (queue g k) -> waiting g s q = [].
Definition may_pass (g : system) (s : state) (b : block) : Prop :=
  forall c v, nth_error (points g (of b)) (passed b) = Some (Await c v) -> v <= counter g s c.

Inductive step (g : system) (s : state) : state -> Prop :=
| Enter (k : nat) :
    In k (kernels g) -> ~ In k (entered s) -> (forall j, In j (after g k) -> ended g s j) ->
    (forall j, In j (behind g k) -> In j (entered s)) -> (forall c v, In (c, v) (needs g k) -> v <= counter g s c) ->
    step g s (State (entered s ++ [k]) (blocks s))
| Assign (k : nat) (sms : list nat) :
    next_kernel g s k -> length sms = group g k -> together g k sms ->
    placement g (map (pair k) sms ++ resident g s) ->
    step g s (State (entered s) (map (fun sm => Block k sm 0) sms ++ blocks s))
| Pass (before behind : list block) (b : block) :
    blocks s = before ++ b :: behind -> over g b = false -> may_pass g s b ->
    step g s (State (entered s) (before ++ Block (of b) (on b) (S (passed b)) :: behind)).
(* So many steps from the beginning. *)
Inductive run (g : system) : nat -> state -> Prop :=
| Begin : run g 0 beginning
| Then (n : nat) (s t : state) : run g n s -> step g s t -> run g (S n) t.

(* Room for what is assigned next of a kernel, beside these blocks. *)
Definition room (g : system) (k : nat) (l : list (nat * nat)) : Prop :=
  exists sms, length sms = group g k /\ together g k sms /\ placement g (map (pair k) sms ++ l).
(* [k] enters only once [j] has ended; or, in a line that leads from one to the other, has ended or entered. *)
Definition ended_before (g : system) : nat -> nat -> Prop := clos_trans nat (fun j k => In j (after g k)).
Definition entered_before (g : system) : nat -> nat -> Prop :=
  clos_trans nat (fun j k => In j (after g k) \/ In j (behind g k)).
(* What all blocks of these kernels send. *)
Definition all_sent (g : system) (c : nat) (js : list nat) : nat :=
  list_sum (map (fun j => blocks_of g j * sent g j c (length (points g j))) js).
(* A wait that is over before a block of [k] can come to it: what has ended before was enough. *)
Definition settled (g : system) (k c v : nat) : Prop :=
  exists js, NoDup js /\ (forall j, In j js -> ended_before g j k) /\ v <= all_sent g c js.
Definition never_waits (g : system) (k : nat) : Prop :=
  forall p c v, nth_error (points g k) p = Some (Await c v) -> settled g k c v.

(* Counting. *)
Lemma count_le {A} (f h : A -> bool) l : (forall x, In x l -> f x = true -> h x = true) -> count f l <= count h l.
Proof.
  unfold count. induction l as [|x l IH]; intros H; simpl; [lia|]. specialize (IH (fun y I => H y (or_intror I))).
  specialize (H x (or_introl eq_refl)). destruct (f x); [rewrite (H eq_refl); simpl; lia|]. destruct (h x); simpl; lia.
Qed.
Lemma count_app {A} (f : A -> bool) a b : count f (a ++ b) = count f a + count f b.
Proof. unfold count. rewrite filter_app, app_length. reflexivity. Qed.
Lemma count_cons {A} (f : A -> bool) x l : count f (x :: l) = (if f x then 1 else 0) + count f l.
Proof. unfold count. simpl. destruct (f x); reflexivity. Qed.
Lemma count_all {A} (f : A -> bool) l : (forall x, In x l -> f x = true) -> count f l = length l.
Proof.
  induction l as [|x l IH]; intros H; [reflexivity|]. rewrite count_cons, (H x (or_introl eq_refl)), IH; [reflexivity|].
  intros y I. apply H. right. exact I.
Qed.
Lemma count_none {A} (f : A -> bool) l : (forall x, In x l -> f x = false) -> count f l = 0.
Proof.
  induction l as [|x l IH]; intros H; [reflexivity|]. rewrite count_cons, (H x (or_introl eq_refl)), IH; [reflexivity|].
  intros y I. apply H. right. exact I.
Qed.
Lemma count_map {A B} (h : A -> B) f l : count f (map h l) = count (fun x => f (h x)) l.
Proof. induction l as [|x l IH]; [reflexivity|]. simpl map. rewrite !count_cons, IH. reflexivity. Qed.
Lemma count_filter {A} (f h : A -> bool) l : count f (filter h l) = count (fun x => f x && h x) l.
Proof.
  induction l as [|x l IH]; [reflexivity|]. simpl filter. rewrite count_cons.
  destruct (h x); [rewrite count_cons, IH, andb_true_r|rewrite IH, andb_false_r]; reflexivity.
Qed.
Lemma count_some {A} (f : A -> bool) l : 0 < count f l -> exists x, In x l /\ f x = true.
Proof.
  unfold count. destruct (filter f l) as [|x r] eqn:E; simpl; [lia|]. intros _. exists x. apply filter_In. rewrite E.
  left. reflexivity.
Qed.
Lemma count_in {A} (f : A -> bool) l x : In x l -> f x = true -> 0 < count f l.
Proof.
  intros I F. unfold count. assert (J : In x (filter f l)) by (apply filter_In; tauto).
  destruct (filter f l); [destruct J|simpl; lia].
Qed.
(* If as many as are [f] are also [h], each of them is. *)
Lemma count_both {A} (f h : A -> bool) l :
  count f l <= count (fun x => f x && h x) l -> forall x, In x l -> f x = true -> h x = true.
Proof.
  induction l as [|y l IH]; intros H x I F; [destruct I|]. rewrite !count_cons in H.
  assert (L : count (fun x => f x && h x) l <= count f l) by (apply count_le; intros z _; apply andb_prop).
  destruct I as [->|I].
  - rewrite F in H. simpl in H. destruct (h x); [reflexivity|lia].
  - apply IH; try assumption. destruct (f y), (h y); simpl in H; lia.
Qed.
Lemma sum_le {A} (f h : A -> nat) l :
  (forall x, In x l -> f x <= h x) -> list_sum (map f l) <= list_sum (map h l).
Proof.
  induction l as [|x l IH]; intros H; simpl; [lia|]. specialize (IH (fun y I => H y (or_intror I))).
  specialize (H x (or_introl eq_refl)). lia.
Qed.
Lemma sum_add {A} (f h : A -> nat) l :
  list_sum (map (fun x => f x + h x) l) = list_sum (map f l) + list_sum (map h l).
Proof. induction l as [|x l IH]; simpl; lia. Qed.

(* A sum over blocks, taken kernel by kernel. *)
Definition share (x : block -> nat) (l : list block) (j : nat) : nat :=
  list_sum (map (fun b => if of b =? j then x b else 0) l).
Lemma one_share x a js : NoDup js -> list_sum (map (fun j => if a =? j then x else 0) js) <= x.
Proof.
  induction js as [|j js IH]; intros N; simpl; [lia|]. inversion N; subst. specialize (IH H2).
  destruct (a =? j) eqn:E; [|exact IH]. apply Nat.eqb_eq in E. subst a.
  assert (Z : list_sum (map (fun i => if j =? i then x else 0) js) = 0); [|lia].
  clear - H1. induction js as [|i js IH]; [reflexivity|]. simpl. destruct (j =? i) eqn:E.
  - apply Nat.eqb_eq in E. subst i. destruct H1. left. reflexivity.
  - apply IH. intros I. apply H1. right. exact I.
Qed.
Lemma own_share x a js : In a js -> x <= list_sum (map (fun j => if a =? j then x else 0) js).
Proof.
  induction js as [|j js IH]; intros I; [destruct I|]. simpl. destruct I as [->|I]; [rewrite Nat.eqb_refl; lia|].
  specialize (IH I). destruct (a =? j); lia.
Qed.
Lemma shares_le x js l : NoDup js -> list_sum (map (share x l) js) <= list_sum (map x l).
Proof.
  intros N. induction l as [|b l IH].
  - assert (Z : list_sum (map (share x []) js) = 0); [|simpl in *; lia]. clear N.
    induction js as [|j js IH]; [reflexivity|exact IH].
  - change (share x (b :: l)) with (fun j => (if of b =? j then x b else 0) + share x l j).
    rewrite sum_add. simpl. assert (Y := one_share (x b) (of b) js N). fold (share x l) in *. lia.
Qed.
Lemma shares_ge x js l : (forall b, In b l -> In (of b) js) -> list_sum (map x l) <= list_sum (map (share x l) js).
Proof.
  induction l as [|b l IH]; intros H; [simpl; lia|].
  change (share x (b :: l)) with (fun j => (if of b =? j then x b else 0) + share x l j).
  rewrite sum_add. simpl. assert (Y := own_share (x b) (of b) js (H b (or_introl eq_refl))).
  specialize (IH (fun y I => H y (or_intror I))). fold (share x l) in *. lia.
Qed.
Lemma share_ge x l j w : (forall b, In b l -> of b = j -> w <= x b) -> count (fun b => of b =? j) l * w <= share x l j.
Proof.
  unfold share. induction l as [|b l IH]; intros H; simpl; [lia|]. specialize (IH (fun y I => H y (or_intror I))).
  rewrite count_cons. destruct (of b =? j) eqn:E; [|lia]. apply Nat.eqb_eq in E.
  specialize (H b (or_introl eq_refl) E). lia.
Qed.
Lemma share_le x l j w : (forall b, In b l -> of b = j -> x b <= w) -> share x l j <= count (fun b => of b =? j) l * w.
Proof.
  unfold share. induction l as [|b l IH]; intros H; simpl; [lia|]. specialize (IH (fun y I => H y (or_intror I))).
  rewrite count_cons. destruct (of b =? j) eqn:E; [|lia]. apply Nat.eqb_eq in E.
  specialize (H b (or_introl eq_refl) E). lia.
Qed.

(* A counter is at least what the blocks of certain kernels have sent, if each of these has sent so much. *)
Lemma counter_of g s c js w : NoDup js -> (forall j, In j js -> w j = 0 \/ blocks_of g j <= assigned s j) ->
  (forall j b, In j js -> In b (blocks s) -> of b = j -> w j <= sent g j c (passed b)) ->
  list_sum (map (fun j => blocks_of g j * w j) js) <= counter g s c.
Proof.
  intros N A W. eapply Nat.le_trans; [|apply (shares_le _ js _ N)]. apply sum_le. intros j I.
  eapply Nat.le_trans; [|apply (share_ge _ _ _ (w j))].
  - destruct (A j I) as [Z|Z]; [rewrite Z, Nat.mul_0_r; lia|apply Nat.mul_le_mono_r, Z].
  - intros b J E. rewrite E. apply (W j b I J E).
Qed.
Lemma sent_more g k c p q : p <= q -> sent g k c p <= sent g k c q.
Proof.
  intros L. unfold sent. replace q with (p + (q - p)) by lia. rewrite seq_app, count_app. lia.
Qed.
