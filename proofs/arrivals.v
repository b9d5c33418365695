(* Jobs of tasks: they arrive a period or more apart, and each is released, all of it at once, up to a jitter after it
   arrived. So in an interval there are only so many. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model lists usage progress capacity closed busy certificate.

Record task := Task { task_stream : nat; period : nat; jitter : nat; works : list work }.
(* A job of the task that has this place in the list of all. *)
Record arrival := Arrival { task_of : nat; arrives : nat; released : nat }.
(* In the order of arrival. *)
Definition arrive_so (tasks : list task) (all : list arrival) : Prop :=
  (forall a k, In a all -> nth_error tasks (task_of a) = Some k ->
    arrives a <= released a /\ released a <= arrives a + jitter k) /\
  ForallOrdPairs (fun a b => task_of b = task_of a -> forall k, nth_error tasks (task_of a) = Some k ->
    arrives a + period k <= arrives b) all.
Definition launched_by (tasks : list task) (a : arrival) : list item :=
  match nth_error tasks (task_of a) with
  | Some k => map (Item (task_stream k) (released a)) (works k)
  | None => []
  end.

(* Jobs that arrive [T] or more apart, all of which may be launched in a window of length [w]. *)
Lemma spaced T J x w l : ForallOrdPairs (fun a b => arrives a + T <= arrives b) l ->
  (forall a, In a l -> x <= arrives a + J /\ arrives a <= x + w) -> 0 < T -> length l <= (w + J) / T + 1.
Proof.
  intros F W Pos.
  assert (L : forall l, ForallOrdPairs (fun a b => arrives a + T <= arrives b) l ->
    (forall a, In a l -> arrives a <= x + w) ->
    match l with [] => True | a :: rest => arrives a + length rest * T <= x + w end).
  { clear. induction l as [|a l IH]; intros F W; [exact Logic.I|]. inversion F as [|? ? Fa F']; subst.
    specialize (IH F' (fun b I => W b (or_intror I))). destruct l as [|b l]; simpl in *.
    - specialize (W a (or_introl eq_refl)). lia.
    - apply Forall_inv in Fa. lia. }
  specialize (L l F (fun a I => proj2 (W a I))). destruct l as [|a l]; [simpl; lia|].
  destruct (W a (or_introl eq_refl)) as [A _]. simpl.
  assert (Q : length l <= (w + J) / T); [|lia]. apply Nat.div_le_lower_bound; lia.
Qed.

Lemma pairs_filter {A} (R : A -> A -> Prop) p l : ForallOrdPairs R l -> ForallOrdPairs R (filter p l).
Proof.
  induction 1 as [|a l F H IH]; simpl; [constructor|]. destruct (p a); [|exact IH]. constructor; [|exact IH].
  rewrite Forall_forall in *. intros b I. apply F. apply filter_In in I. apply I.
Qed.
Lemma pairs_weaker {A} (R Q : A -> A -> Prop) l : (forall a b, In a l -> In b l -> R a b -> Q a b) ->
  ForallOrdPairs R l -> ForallOrdPairs Q l.
Proof.
  intros W H. induction H as [|a l F H IH]; [constructor|]. constructor.
  - rewrite Forall_forall in *. intros b I. apply W; [left; reflexivity|right; exact I|apply F, I].
  - apply IH. intros b c I J. apply W; right; assumption.
Qed.

Lemma one_of_seq n v : forall a len, a <= n < a + len -> sum (map (fun i => if i =? n then v else 0) (seq a len)) = v.
Proof.
  intros a len. revert a. induction len as [|len IH]; intros a L; [lia|]. simpl. destruct (Nat.eqb_spec a n) as [->|N].
  - rewrite sum_none; [lia|]. intros i I. apply in_seq in I. destruct (Nat.eqb_spec i n); [lia|reflexivity].
  - rewrite IH by lia. reflexivity.
Qed.
(* A sum over jobs, task by task. *)
Lemma task_by_task (f : arrival -> nat) len all : (forall a, In a all -> f a = 0 \/ task_of a < len) ->
  sum (map f all) = sum (map (fun n => sum (map f (filter (fun a => n =? task_of a) all))) (seq 0 len)).
Proof.
  induction all as [|a all IH]; intros H; simpl.
  - symmetry. apply sum_none. reflexivity.
  - rewrite (IH (fun b I => H b (or_intror I))).
    assert (E : forall l, sum (map (fun n => sum (map f (filter (fun b => n =? task_of b) (a :: all)))) l) =
      sum (map (fun n => if n =? task_of a then f a else 0) l) +
      sum (map (fun n => sum (map f (filter (fun b => n =? task_of b) all))) l)).
    { induction l as [|n l IHl]; [reflexivity|]. cbn [map sum fold_right filter] in *. unfold sum in *. simpl in *.
      rewrite IHl. destruct (n =? task_of a); simpl; lia. }
    simpl in E. rewrite E. destruct (H a (or_introl eq_refl)) as [Z|L].
    + rewrite Z, (sum_none (fun n => if n =? task_of a then 0 else 0)); [reflexivity|].
      intros n _. destruct (n =? task_of a); reflexivity.
    + rewrite one_of_seq by lia. reflexivity.
Qed.
Lemma seq_of_list {A} (h : A -> nat) l :
  map (fun n => match nth_error l n with Some k => h k | None => 0 end) (seq 0 (length l)) = map h l.
Proof.
  induction l as [|k l IH]; [reflexivity|]. simpl. f_equal. rewrite <- seq_shift, map_map. exact IH.
Qed.

(* What jobs of one task that are released from [before] before [x] to [after] after it add, each so much. *)
Lemma of_one_task T J x before after c l : ForallOrdPairs (fun a b => arrives a + T <= arrives b) l ->
  (forall a, In a l -> arrives a <= released a /\ released a <= arrives a + J) -> 0 < T ->
  sum (map (fun a => if (x <=? released a + before) && (released a <=? x + after) then c else 0) l) <=
  ((after + before + J) / T + 1) * c.
Proof.
  intros F R Pos. set (p := fun a => (x <=? released a + before) && (released a <=? x + after)).
  assert (E : forall l, sum (map (fun a => if p a then c else 0) l) = length (filter p l) * c).
  { clear. induction l as [|a l IH]; [reflexivity|]. simpl. rewrite IH. destruct (p a); simpl; lia. }
  eapply Nat.le_trans; [apply Nat.eq_le_incl, (E l)|]. apply Nat.mul_le_mono_r.
  apply (spaced T J (x - before) (after + before)); [apply pairs_filter, F| |exact Pos].
  intros a I. apply filter_In in I. destruct I as [I W]. unfold p in W. rewrite andb_true_iff, !Nat.leb_le in W.
  specialize (R a I). lia.
Qed.

(* What all jobs add, each by its task and its release, task by task. *)
Lemma of_all_tasks tasks (f : task -> nat -> nat) (bound : task -> nat) all : arrive_so tasks all ->
  (forall k l, In k tasks -> ForallOrdPairs (fun a b => arrives a + period k <= arrives b) l ->
    (forall a, In a l -> arrives a <= released a /\ released a <= arrives a + jitter k) ->
    sum (map (fun a => f k (released a)) l) <= bound k) ->
  sum (map (fun a => match nth_error tasks (task_of a) with Some k => f k (released a) | None => 0 end) all) <=
  sum (map bound tasks).
Proof.
  intros [Rel Sp] Each. rewrite (task_by_task _ (length tasks)).
  2: { intros a _. destruct (nth_error tasks (task_of a)) eqn:E; [right|left; reflexivity].
    apply nth_error_Some. congruence. }
  rewrite <- (seq_of_list bound tasks). generalize (seq 0 (length tasks)) as ns.
  induction ns as [|n ns IH]; simpl; [lia|].
  enough (sum (map (fun a => match nth_error tasks (task_of a) with Some k => f k (released a) | None => 0 end)
    (filter (fun a => n =? task_of a) all)) <= match nth_error tasks n with Some k => bound k | None => 0 end) by lia.
  clear IH ns. assert (Own : forall a, In a (filter (fun a => n =? task_of a) all) -> In a all /\ task_of a = n).
  { intros a I. apply filter_In in I. destruct I as [I N]. apply Nat.eqb_eq in N. auto. }
  destruct (nth_error tasks n) as [k|] eqn:Ek.
  2: { rewrite sum_none; [lia|]. intros a I. destruct (Own a I) as [_ <-]. rewrite Ek. reflexivity. }
  eapply Nat.le_trans; [|apply (Each k (filter (fun a => n =? task_of a) all) (nth_error_In _ _ Ek))].
  - apply Nat.eq_le_incl. f_equal. apply map_ext_in. intros a I. destruct (Own a I) as [_ <-]. rewrite Ek. reflexivity.
  - apply (pairs_weaker (fun a b => task_of b = task_of a -> forall k, nth_error tasks (task_of a) = Some k ->
      arrives a + period k <= arrives b)); [|apply pairs_filter, Sp].
    intros a b Ia Ib R. destruct (Own a Ia) as [_ Na], (Own b Ib) as [_ Nb]. apply R; congruence.
  - intros a I. destruct (Own a I) as [Ia Na]. apply (Rel a k Ia). congruence.
Qed.

(* What all that is launched adds, if of a job all comes at once. *)
Lemma of_launches tasks (h : item -> nat) all : sum (map h (flat_map (launched_by tasks) all)) =
  sum (map (fun a => match nth_error tasks (task_of a) with
    | Some k => sum (map (fun what => h (Item (task_stream k) (released a) what)) (works k))
    | None => 0
    end) all).
Proof.
  induction all as [|a all IH]; [reflexivity|]. simpl. rewrite map_app, sum_app, IH. f_equal. unfold launched_by.
  destruct (nth_error tasks (task_of a)); [rewrite map_map; reflexivity|reflexivity].
Qed.

(* In every run that launches some or all of such jobs, in any order of what is launched at one instant, all of a job is
   over once the time that is claimed for its task has passed since it arrived. *)
Definition over_as_claimed (g : device) (tasks : list task) (claims : list (nat * nat)) : Prop :=
  forall n bound k, In (n, bound) claims -> nth_error tasks n = Some k ->
  forall all, arrive_so tasks all ->
  forall xs s rest, steps g (empty g) xs s ->
  Permutation (map item_of (launches xs) ++ rest) (flat_map (launched_by tasks) all) ->
  forall a, In a all -> task_of a = n -> arrives a + bound < now s ->
  everywhere (fun o => ~ (stream o = task_stream k /\ launched_at o = released a)) s.
