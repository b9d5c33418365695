(* Standstills, by computation: what each condition of docs/hang.md is needed for. *)
From Coq Require Import List Arith Bool Lia Relations.
Import ListNotations.
From gpusched Require Import barriers barrier_runs barrier_alone barrier_room.

(* Systems of up to three kernels without order, each a list of blocks, units that one of them takes of an SM, queue, and
   points; queue 0 is more urgent than queue 1. Each of so many SMs has so many units. *)
Record kernel := Kernel { n_blocks : nat; size : nat; in_queue : nat; runs : list point }.
Definition none : kernel := Kernel 1 0 0 [].
Definition of_list (ks : list kernel) (k : nat) : kernel := nth k ks none.
Definition gpu (sms units : nat) (ks : list kernel) : system :=
  System (seq 0 (length ks)) (fun k => n_blocks (of_list ks k)) (fun k => runs (of_list ks k)) (fun _ => 1)
         (fun _ _ => True) (fun k => in_queue (of_list ks k)) (fun _ => 0) (fun q => q) (fun _ => [])
         (fun _ => []) (fun _ => []) (fun _ sm => sm < sms)
         (fun _ there k => list_sum (map (fun j => there j * size (of_list ks j)) (seq 0 (length ks))) +
                             size (of_list ks k) <= units).
Lemma gpu_sane sms units ks : (forall k, In k ks -> 0 < n_blocks k) -> sane (gpu sms units ks).
Proof.
  intros B. split; simpl.
  - apply seq_NoDup.
  - intros k I. apply in_seq in I. apply B, nth_In. lia.
  - intros k _. exists (n_blocks (of_list ks k)). lia.
  - intros k j _ [].
  - intros k j _ [].
  - intros sm a b k L F. eapply Nat.le_trans; [|exact F]. apply Nat.add_le_mono_r, sum_le. intros j _.
    apply Nat.mul_le_mono_r, L.
Qed.

(* What happens next: a kernel enters, a block of it is assigned to an SM, or the block of this place in the list (the
   one assigned last is first) passes a point. *)
Inductive move := Enters (k : nat) | Assigns (k sm : nat) | Passes (i : nat).
Definition does (s : state) (m : move) : state :=
  match m with
  | Enters k => State (entered s ++ [k]) (blocks s)
  | Assigns k sm => State (entered s) (Block k sm 0 :: blocks s)
  | Passes i =>
      match nth_error (blocks s) i with
      | Some b => State (entered s) (firstn i (blocks s) ++ Block (of b) (on b) (S (passed b)) :: skipn (S i) (blocks s))
      | None => s
      end
  end.
Definition is_empty {A} (l : list A) : bool := match l with [] => true | _ => false end.
Definition is_next (sms units : nat) (ks : list kernel) (s : state) (k : nat) : bool :=
  match waiting (gpu sms units ks) s (in_queue (of_list ks k)) with h :: _ => h =? k | [] => false end &&
  forallb (fun q => is_empty (waiting (gpu sms units ks) s q)) (seq 0 (in_queue (of_list ks k))).
Definition has_room (sms units : nat) (ks : list kernel) (s : state) (k sm : nat) : bool :=
  (sm <? sms) && (list_sum (map (fun j => there sm (resident (gpu sms units ks) s) j * size (of_list ks j))
    (seq 0 (length ks))) + size (of_list ks k) <=? units).
Definition held (g : system) (s : state) (b : block) : bool :=
  over g b || match nth_error (points g (of b)) (passed b) with Some (Await c v) => counter g s c <? v | _ => false end.
Definition allowed (sms units : nat) (ks : list kernel) (s : state) (m : move) : bool :=
  match m with
  | Enters k => (k <? length ks) && negb (existsb (Nat.eqb k) (entered s))
  | Assigns k sm => is_next sms units ks s k && has_room sms units ks s k sm
  | Passes i => match nth_error (blocks s) i with Some b => negb (held (gpu sms units ks) s b) | None => false end
  end.
Fixpoint all_allowed (sms units : nat) (ks : list kernel) (s : state) (ms : list move) : bool :=
  match ms with [] => true | m :: ms => allowed sms units ks s m && all_allowed sms units ks (does s m) ms end.
(* No block passes a point, every kernel has entered, and none that is next has room. *)
Definition still (sms units : nat) (ks : list kernel) (s : state) : bool :=
  forallb (held (gpu sms units ks) s) (blocks s) &&
  forallb (fun k => existsb (Nat.eqb k) (entered s)) (seq 0 (length ks)) &&
  forallb (fun k => negb (is_next sms units ks s k) || forallb (fun sm => negb (has_room sms units ks s k sm)) (seq 0 sms))
    (entered s).
Definition unfinished (g : system) (s : state) : bool := negb (forallb (endedb g s) (kernels g)).
Definition after_moves (ms : list move) : state := fold_left does ms beginning.

Section Moves.
Variables (sms units : nat) (ks : list kernel).
Hypothesis B : forall k, In k ks -> 0 < n_blocks k.
Let g := gpu sms units ks.

Lemma entered_in s k : existsb (Nat.eqb k) (entered s) = true <-> In k (entered s).
Proof.
  rewrite existsb_exists. split.
  - intros (x & I & E). apply Nat.eqb_eq in E. subst x. exact I.
  - intros I. exists k. split; [exact I|apply Nat.eqb_refl].
Qed.
Lemma is_next_kernel s k : is_next sms units ks s k = true <-> next_kernel g s k.
Proof.
  unfold is_next, next_kernel. fold g. split.
  - intros E. apply andb_prop in E. destruct E as [W E]. rewrite forallb_forall in E. split.
    + change (queue g k) with (in_queue (of_list ks k)). destruct (waiting g s (in_queue (of_list ks k))) as [|h rest];
        [discriminate W|]. apply Nat.eqb_eq in W. subst h. exists rest. reflexivity.
    + intros q [_ L]. simpl in L. specialize (E q). destruct (waiting g s q); [reflexivity|].
      discriminate E. apply in_seq. lia.
  - intros [[rest W] Ab]. change (queue g k) with (in_queue (of_list ks k)) in *. rewrite W, Nat.eqb_refl. simpl.
    apply forallb_forall. intros q I. apply in_seq in I. rewrite (Ab q); [reflexivity|]. split; simpl; [reflexivity|lia].
Qed.
Lemma has_room_room s k sm : placement g (resident g s) ->
  (has_room sms units ks s k sm = true <-> placement g ((k, sm) :: resident g s)).
Proof.
  intros P. unfold has_room. fold g. rewrite andb_true_iff, Nat.ltb_lt, Nat.leb_le. split.
  - intros [L F]. constructor; assumption.
  - intros Q. inversion Q; subst. split; assumption.
Qed.
Lemma not_held s b : held g s b = false -> over g b = false /\ may_pass g s b.
Proof.
  unfold held. intros H. apply orb_false_iff in H. destruct H as [O H]. split; [exact O|]. intros c v N. rewrite N in H.
  apply Nat.ltb_ge, H.
Qed.
Lemma allowed_step s m : proper g s -> allowed sms units ks s m = true -> step g s (does s m).
Proof.
  intros P A. destruct m as [k|k sm|i]; simpl in A.
  - apply andb_prop in A. destruct A as [L N]. apply Nat.ltb_lt in L. apply (Enter g s k).
    + apply in_seq. lia.
    + intros I. apply entered_in in I. rewrite I in N. discriminate N.
    + intros j [].
    + intros j [].
    + intros c v [].
  - apply andb_prop in A. destruct A as [N R]. apply (Assign g s k [sm]).
    + apply is_next_kernel, N.
    + reflexivity.
    + exact Logic.I.
    + apply (has_room_room s k sm (proper_placed g s P)), R.
  - simpl. destruct (nth_error (blocks s) i) as [b|] eqn:E; [|discriminate A]. apply negb_true_iff in A.
    destruct (not_held s b A) as [O M]. apply (Pass g s (firstn i (blocks s)) (skipn (S i) (blocks s)) b); try assumption.
    clear - E. revert i E. induction (blocks s) as [|x l IH]; intros [|i] E; simpl in *; try discriminate E.
    + injection E as ->. reflexivity.
    + f_equal. apply (IH i E).
Qed.
Lemma allowed_run ms : all_allowed sms units ks beginning ms = true -> exists n, run g n (after_moves ms).
Proof.
  unfold after_moves. assert (R : run g 0 beginning) by constructor. revert R. generalize 0. generalize beginning.
  induction ms as [|m ms IH]; intros s n R A; [exists n; exact R|]. simpl in A. apply andb_prop in A.
  destruct A as [A1 A2]. apply (IH (does s m) (S n)); [|exact A2]. apply (Then g n s); [exact R|].
  apply allowed_step; [apply (run_proper g (gpu_sane _ _ _ B) n s R)|exact A1].
Qed.
Lemma still_no_step s : proper g s -> still sms units ks s = true -> forall t, ~ step g s t.
Proof.
  intros P St t H. unfold still in St. fold g in St. apply andb_prop in St. destruct St as [St N]. apply andb_prop in St.
  destruct St as [Hd E]. rewrite forallb_forall in Hd, E, N. destruct H.
  - apply H0, entered_in, E, H.
  - assert (Ik := proj1 (next_facts g s k H)). specialize (N k Ik). apply orb_prop in N. destruct N as [N|N].
    + apply is_next_kernel in H. rewrite H in N. discriminate N.
    + rewrite forallb_forall in N. destruct sms0 as [|sm [|x l]]; try discriminate H0. simpl in H2.
      assert (L : sm < sms) by (inversion H2; assumption). specialize (N sm ltac:(apply in_seq; lia)).
      apply (has_room_room s k sm (proper_placed g s P)) in H2. rewrite H2 in N. discriminate N.
  - specialize (Hd b ltac:(rewrite H; apply in_app_iff; right; left; reflexivity)). unfold held in Hd.
    apply orb_prop in Hd. destruct Hd as [O|O]; [congruence|]. destruct (nth_error _ _) as [[c|c v]|] eqn:X;
      try discriminate O. specialize (H1 c v X). apply Nat.ltb_lt in O. lia.
Qed.

(* These moves are a run, after which nothing can go on although not all has ended. *)
Definition hangs : Prop :=
  exists n s, run g n s /\ ~ all_ended g s /\ forall t, ~ step g s t.
Lemma moves_hang ms : all_allowed sms units ks beginning ms = true -> still sms units ks (after_moves ms) = true ->
  unfinished g (after_moves ms) = true -> hangs.
Proof.
  intros A St U. destruct (allowed_run ms A) as [n R]. exists n, (after_moves ms). split; [exact R|]. split.
  - intros E. unfold unfinished in U. apply negb_true_iff in U.
    assert (T : forallb (endedb g (after_moves ms)) (kernels g) = true); [|congruence]. apply forallb_forall.
    intros k I. apply endedb_ended, (E k I).
  - apply still_no_step; [apply (run_proper g (gpu_sane _ _ _ B) n _ R)|exact St].
Qed.
End Moves.

(* A kernel of so many blocks that go on once all of them have come to a barrier: counter [c]. *)
Definition grid (blocks size queue c : nat) : kernel := Kernel blocks size queue [Signal c; Await c blocks].
Definition ordinary (blocks size queue : nat) : kernel := Kernel blocks size queue [].
Lemma grid_waits_for_itself sms units ks k blocks size queue c these : of_list ks k = grid blocks size queue c ->
  waits_for (gpu sms units ks) these k.
Proof.
  intros E p c' v N. exists []. split; [constructor|]. split; [intros []|]. split; [intros j []|].
  simpl in N |- *. rewrite E in N |- *. destruct p as [|[|p]]; simpl in N; [discriminate N| |destruct p; discriminate N].
  injection N as <- <-. unfold sent. simpl. rewrite count_cons. unfold raises. simpl. rewrite E. simpl.
  rewrite Nat.eqb_refl. simpl. lia.
Qed.

(* Two SMs that hold one block each. An ordinary block is on one of them when the grid of queue 1 comes, and gets the
   other; then the grid of queue 0 comes, and gets the SM that the ordinary block leaves. Each grid has one of its two
   blocks, waits for itself alone, and would fit the GPU alone. *)
Definition two_grids : list kernel := [ordinary 1 1 1; grid 2 1 1 1; grid 2 1 0 2].
Theorem two_grids_of_two_priorities_hang :
  hangs 2 1 two_grids /\
  (forall k, k = 1 \/ k = 2 ->
    fits_alone (gpu 2 1 two_grids) k /\ waits_for (gpu 2 1 two_grids) (ended_before (gpu 2 1 two_grids)) k).
Proof.
  split.
  - apply (moves_hang 2 1 two_grids ltac:(intros k [<-|[<-|[<-|[]]]]; simpl; lia)
      [Enters 0; Assigns 0 1; Enters 1; Assigns 1 0; Enters 2; Passes 1; Assigns 2 1; Passes 0; Passes 1]);
      vm_compute; reflexivity.
  - intros k [-> | ->]; (split; [|eapply grid_waits_for_itself; reflexivity]).
    + exists [0; 1]. split; [reflexivity|]. split; [repeat constructor|]. right. split; [reflexivity|]. constructor.
    + exists [0; 1]. split; [reflexivity|]. split; [repeat constructor|]. right. split; [reflexivity|]. constructor.
Qed.

(* In one queue they never hang. *)
Definition grids_of_one_priority : list kernel := [ordinary 1 1 1; grid 2 1 1 1; grid 2 1 1 2].
Theorem the_same_grids_do_not_hang_in_one_queue n s : run (gpu 2 1 grids_of_one_priority) n s ->
  all_ended (gpu 2 1 grids_of_one_priority) s \/ exists t, step (gpu 2 1 grids_of_one_priority) s t.
Proof.
  set (g := gpu 2 1 grids_of_one_priority).
  assert (Sa : sane g) by (apply gpu_sane; intros k [<-|[<-|[<-|[]]]]; simpl; lia).
  apply (one_queue_cannot_stand_still g Sa 1). split.
  - exists lt. split; [exact lt_wf|]. intros k _. split; [intros j [[]|[]]|intros c v []].
  - intros k j l [<-|[<-|[<-|[]]]] _ [_ L]; simpl in L; lia.
  - intros k [<-|Ik].
    + left. split; [intros [|p] c v N; discriminate N|]. exists [0]. split; [reflexivity|]. split; [constructor|].
      repeat constructor.
    + right. assert (J : k = 1 \/ k = 2) by (simpl in Ik; lia). split.
      * apply (fits_alone_is_room_alone g Sa k (or_intror Ik)). exists [0; 1].
        destruct J as [-> | ->]; (split; [reflexivity|]; split; [repeat constructor|]; right; split; [reflexivity|];
          constructor).
      * left. destruct J as [-> | ->]; (split; [reflexivity|]; eapply grid_waits_for_itself; reflexivity).
Qed.

(* With one SM more they never hang: if each grid lacks a block, there are no more than two blocks on three SMs. *)
Theorem the_same_grids_do_not_hang_with_one_sm_more n s : run (gpu 3 1 two_grids) n s ->
  all_ended (gpu 3 1 two_grids) s \/ exists t, step (gpu 3 1 two_grids) s t.
Proof.
  set (g := gpu 3 1 two_grids).
  assert (Sa : sane g) by (apply gpu_sane; intros k [<-|[<-|[<-|[]]]]; simpl; lia).
  apply (sure_room_cannot_stand_still g (fun _ => true) (fun k => negb (k =? 0)) (fun _ p => p) Sa).
  split; try (intros; contradiction || discriminate || reflexivity).
  - intros k p _ _ _. lia.
  - intros k p c v [<-|[<-|[<-|[]]]] W N; try discriminate W; destruct p as [|[|[|p]]]; try discriminate N;
      injection N as <- <-; vm_compute; lia.
  - intros k [<-|[<-|[<-|[]]]] W; try discriminate W. intros [|p] c v N; discriminate N.
  - intros k l Ik _ Pl Of _ _ Own _.
    apply (light_blocks_leave_room_for_one g k l [0; 1; 2] (fun _ => 1) 1); try exact Pl.
    + apply (sane_kernels g Sa).
    + repeat constructor; simpl; intuition discriminate.
    + intros sm [<-|[<-|[<-|[]]]]; simpl; lia.
    + reflexivity.
    + intros sm. constructor.
    + intros sm a _. simpl. destruct Ik as [<-|[<-|[<-|[]]]]; simpl; lia.
    + assert (Few : forall j, j = 1 \/ j = 2 -> count (fun x => fst x =? j) l <= 1).
      { intros j J. destruct (count (fun x => fst x =? j) l) eqn:C; [lia|].
        destruct (count_some (fun x => fst x =? j) l) as (x & I & E); [rewrite C; lia|]. apply Nat.eqb_eq in E.
        assert (L : count (fun x => fst x =? j) l + 1 <= blocks_of g j); [apply (Own j)|].
        - rewrite <- E. apply in_map, I.
        - destruct J as [-> | ->]; eapply grid_waits_for_itself; reflexivity.
        - destruct J as [-> | ->]; simpl in L; rewrite C in L; lia. }
      assert (All : list_sum (map (fun _ : nat * nat => 1) l) <=
        count (fun x => fst x =? 1) l + count (fun x => fst x =? 2) l).
      { clear - Of. induction l as [|x l IH]; [reflexivity|]. rewrite !count_cons. simpl.
        specialize (IH (fun y I => Of y (or_intror I))). destruct (Of x (or_introl eq_refl)) as [[E|[E|[E|[]]]] W];
          rewrite <- E in *; simpl in *; try discriminate W; lia. }
      assert (X := Few 1 (or_introl eq_refl)). assert (Y := Few 2 (or_intror eq_refl)). simpl. lia.
  - exists lt. split; [exact lt_wf|]. intros k _. split; [intros j [[]|[]]|intros c v []].
Qed.

(* The kernels that do not wait count too: one SM of two units, a grid of two blocks of one unit in queue 1, and an
   ordinary kernel of one block of both units in queue 0. It comes while the grid has one block, waits for the whole SM,
   and keeps the other block of the grid from what is free. *)
Definition grid_and_ordinary : list kernel := [ordinary 1 1 1; grid 2 1 1 1; ordinary 1 2 0].
Theorem an_urgent_ordinary_kernel_makes_a_grid_hang : hangs 1 2 grid_and_ordinary.
Proof.
  apply (moves_hang 1 2 grid_and_ordinary ltac:(intros k [<-|[<-|[<-|[]]]]; simpl; lia)
    [Enters 0; Assigns 0 0; Enters 1; Assigns 1 0; Enters 2; Passes 1; Passes 0]); vm_compute; reflexivity.
Qed.

(* One queue does not help where a kernel waits for one that may come after it: on one SM of one block the first waits
   for the second. In the other order all ends. *)
Definition one_waits_for_the_other : list kernel := [Kernel 1 1 0 [Await 0 1]; Kernel 1 1 0 [Signal 0]].
Theorem in_one_of_two_orders_it_hangs :
  hangs 1 1 one_waits_for_the_other /\
  exists n s, run (gpu 1 1 one_waits_for_the_other) n s /\ all_ended (gpu 1 1 one_waits_for_the_other) s.
Proof.
  assert (B : forall k, In k one_waits_for_the_other -> 0 < n_blocks k) by (intros k [<-|[<-|[]]]; simpl; lia). split.
  - apply (moves_hang 1 1 one_waits_for_the_other B [Enters 0; Enters 1; Assigns 0 0]); vm_compute; reflexivity.
  - destruct (allowed_run 1 1 one_waits_for_the_other B [Enters 1; Enters 0; Assigns 1 0; Passes 0; Passes 0; Assigns 0 0;
      Passes 0; Passes 0]) as [n R]; [vm_compute; reflexivity|]. eexists n, _. split; [exact R|].
    intros k [<-|[<-|[]]]; apply Nat.leb_le; vm_compute; reflexivity.
Qed.
