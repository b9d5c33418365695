(* A checker of certificates where releases are not given, and what follows once it accepts one: jobs of a stream arrive
   a period or more apart, and each is released, all of it at once, up to a jitter after it arrived. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model lists usage progress capacity serial closed busy certificate.

Record task := Task { task_stream : nat; period : nat; jitter : nat; works : list work }.
(* A job of the task that has this place in the list of all. *)
Record arrival := Arrival { task_of : nat; arrives : nat; released : nat }.
(* How many jobs of a task can be launched in the window, and how much each of them adds. *)
Record share := Share { jobs : nat; of_job : nat }.

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

Section Window.
Variables (g : device) (top : nat) (tasks : list task) (w : nat).

Definition task_kinds : list kind := flat_map (fun k => map (pair (task_stream k)) (works k)) tasks.
Let blocks (l : nat) : nat := nth l (table g top task_kinds) 0.
Definition adds_of (t : list nat) (k : task) : nat :=
  sum (map (fun what => of_upper g top (full g top (fun l => nth l t 0)) (of_kind (task_stream k, what))) (works k)).
Definition jobs_within (k : task) : nat := (w + jitter k) / period k + 1.
Definition is_upper (k : task) : bool := level_of g top (task_stream k) <? top.

(* Each task of the upper streams has its share. *)
Fixpoint enough_shares (t : list nat) (all : list task) (shares : list share) : bool :=
  match all, shares with
  | [], [] => true
  | [], _ => false
  | k :: rest, _ =>
      if is_upper k then
        match shares with
        | [] => false
        | s :: shares =>
            (0 <? period k) && (jobs_within k <=? jobs s) && (adds_of t k <=? of_job s) && enough_shares t rest shares
        end
      else enough_shares t rest shares
  end.
(* That a job of this task is over so long after it arrived. *)
Definition proves_task (claim : nat * nat) : bool :=
  match nth_error tasks (fst claim) with Some k => is_upper k && (jitter k + w <=? snd claim) | None => false end.
Definition accept_window (shares : list share) (claims : list (nat * nat)) : bool :=
  closedb g top task_kinds && enough_shares (table g top task_kinds) tasks shares
  && (sum (map (fun s => jobs s * of_job s) shares) <=? w) && forallb proves_task claims.

Lemma shares_are_enough all : forall shares, enough_shares (table g top task_kinds) all shares = true ->
  (forall k, In k all -> is_upper k = true -> 0 < period k) /\
  sum (map (fun k => jobs_within k * adds_of (table g top task_kinds) k) all) <=
  sum (map (fun s => jobs s * of_job s) shares).
Proof.
  induction all as [|k all IH]; intros shares H; simpl in *.
  - destruct shares; [|discriminate H]. split; [intros k []|apply le_n].
  - destruct (is_upper k) eqn:U.
    + destruct shares as [|s shares]; [discriminate H|]. rewrite !andb_true_iff, !Nat.leb_le, Nat.ltb_lt in H.
      destruct H as [[[Z J] A] H]. destruct (IH _ H) as [P S]. split; [intros j [<-|I]; auto|].
      simpl. assert (M := Nat.mul_le_mono _ _ _ _ J A). lia.
    + destruct (IH _ H) as [P S]. split; [intros j [<-|I]; [congruence|auto]|].
      assert (Z : adds_of (table g top task_kinds) k = 0); [|rewrite Z; lia]. unfold adds_of. apply sum_none.
      intros what _. unfold of_upper, upper. simpl. unfold is_upper in U. rewrite U. reflexivity.
Qed.

(* Jobs that arrive [T] or more apart, all of which may be launched in a window of length [w]. *)
Lemma spaced T J x l : ForallOrdPairs (fun a b => arrives a + T <= arrives b) l ->
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

Lemma demand_of_tasks shares x ops rest all : enough_shares (table g top task_kinds) tasks shares = true ->
  arrive_so tasks all -> Permutation (map item_of ops ++ rest) (flat_map (launched_by tasks) all) ->
  demand g top blocks x (x + w) ops <= sum (map (fun s => jobs s * of_job s) shares).
Proof.
  intros En [Rel Sp] Perm. destruct (shares_are_enough tasks shares En) as [Pos Sum].
  eapply Nat.le_trans; [eapply demand_of_launched, Perm|]. eapply Nat.le_trans; [|exact Sum]. clear Perm Sum.
  set (t := table g top task_kinds) in *.
  (* All of a job comes at once. *)
  set (f := fun a => match nth_error tasks (task_of a) with
    | Some k => if (x <=? released a) && (released a <=? x + w) then adds_of t k else 0
    | None => 0
    end).
  assert (A : sum (map (between g top blocks x (x + w)) (flat_map (launched_by tasks) all)) = sum (map f all)).
  { induction all as [|a all IH]; [reflexivity|]. simpl. rewrite map_app, sum_app, IH.
    - f_equal. unfold f, launched_by. destruct (nth_error tasks (task_of a)) as [k|]; [|reflexivity].
      unfold adds_of. rewrite map_map. unfold between. simpl.
      destruct ((x <=? released a) && (released a <=? x + w)); [reflexivity|].
      apply sum_none. reflexivity.
    - intros b k I. apply Rel. right. exact I.
    - inversion Sp. assumption. }
  rewrite A, (task_by_task f (length tasks)).
  2: { intros a _. unfold f. destruct (nth_error tasks (task_of a)) eqn:E; [right|left; reflexivity].
    apply nth_error_Some. congruence. }
  rewrite <- (seq_of_list (fun k => jobs_within k * adds_of t k) tasks).
  generalize (seq 0 (length tasks)) as ns. induction ns as [|n ns IH]; simpl; [lia|].
  enough (sum (map f (filter (fun a => n =? task_of a) all)) <=
    match nth_error tasks n with Some k => jobs_within k * adds_of t k | None => 0 end) by lia.
  clear IH ns A. destruct (nth_error tasks n) as [k|] eqn:Ek.
  2: { rewrite sum_none; [lia|]. intros a I. apply filter_In in I. destruct I as [_ I]. apply Nat.eqb_eq in I. subst n.
    unfold f. rewrite Ek. reflexivity. }
  destruct (is_upper k) eqn:U.
  2: { rewrite sum_none; [lia|]. intros a I. apply filter_In in I. destruct I as [_ I]. apply Nat.eqb_eq in I. subst n.
    unfold f. rewrite Ek. destruct (_ && _); [|reflexivity]. unfold adds_of. apply sum_none.
    intros what _. unfold of_upper, upper. simpl. unfold is_upper in U. rewrite U. reflexivity. }
  set (in_window := fun a => (x <=? released a) && (released a <=? x + w)).
  set (l := filter in_window (filter (fun a => n =? task_of a) all)).
  assert (Own : forall a, In a l -> In a all /\ task_of a = n /\ x <= released a /\ released a <= x + w).
  { intros a I. apply filter_In in I. destruct I as [I W]. apply filter_In in I. destruct I as [I N].
    apply Nat.eqb_eq in N. unfold in_window in W. rewrite andb_true_iff, !Nat.leb_le in W. auto. }
  assert (Len : length l <= jobs_within k).
  { apply (spaced (period k) (jitter k) x l); [| |apply Pos; [apply (nth_error_In _ _ Ek)|exact U]].
    - apply (pairs_weaker (fun a b => task_of b = task_of a -> forall k, nth_error tasks (task_of a) = Some k ->
        arrives a + period k <= arrives b)).
      + intros a b Ia Ib R. destruct (Own a Ia) as (_ & Na & _), (Own b Ib) as (_ & Nb & _).
        apply R; congruence.
      + apply pairs_filter, pairs_filter, Sp.
    - intros a I. destruct (Own a I) as (Ia & Na & W). rewrite <- Na in Ek. destruct (Rel a k Ia Ek). lia. }
  assert (Q : sum (map f (filter (fun a => n =? task_of a) all)) = length l * adds_of t k).
  { subst l. clear Len Own. induction all as [|a all IH]; [reflexivity|]. simpl.
    assert (IH' := IH (fun b j I => Rel b j (or_intror I)) ltac:(inversion Sp; assumption)).
    destruct (Nat.eqb_spec n (task_of a)) as [->|N]; [|exact IH']. simpl. rewrite IH'. unfold f at 1. rewrite Ek.
    fold (in_window a). destruct (in_window a); simpl; lia. }
  rewrite Q. apply Nat.mul_le_mono_r, Len.
Qed.

(* In every run that launches some or all of such jobs, in any order of what is launched at one instant, all of a job is
   over once the time that is claimed has passed since it arrived. *)
Theorem accepted_windows_hold : forall shares claims, accept_window shares claims = true ->
  forall n bound k, In (n, bound) claims -> nth_error tasks n = Some k ->
  forall all, arrive_so tasks all ->
  forall xs s rest, steps g (empty g) xs s ->
  Permutation (map item_of (launches xs) ++ rest) (flat_map (launched_by tasks) all) ->
  forall a, In a all -> task_of a = n -> arrives a + bound < now s ->
  everywhere (fun o => ~ (stream o = task_stream k /\ launched_at o = released a)) s.
Proof.
  intros shares claims H n bound k Ic Ek all So xs s rest St Perm a Ia Na Late.
  unfold accept_window in H. rewrite !andb_true_iff, Nat.leb_le, forallb_forall in H.
  destruct H as [[[Cl En] Sum] Pr]. specialize (Pr _ Ic). unfold proves_task in Pr. simpl in Pr. rewrite Ek in Pr.
  apply andb_true_iff in Pr. destruct Pr as [U Le]. apply Nat.leb_le in Le.
  rewrite <- Na in Ek. destruct (proj1 So a k Ia Ek) as [_ R].
  assert (Ov := over_within g top blocks (mine task_kinds) (accepted_closed g top task_kinds Cl) w xs s St).
  eapply everywhere_weaker; [|apply Ov].
  - simpl. intros o H [S L]. assert (Uo : upper g top o = true) by (unfold upper; rewrite S; exact U).
    specialize (H Uo). lia.
  - intros o I. assert (J : In (item_of o) (flat_map (launched_by tasks) all)).
    { eapply Permutation_in; [exact Perm|]. apply in_app_iff. left. apply in_map, I. }
    apply in_flat_map in J. destruct J as (b & _ & J). unfold launched_by in J.
    destruct (nth_error tasks (task_of b)) as [j|] eqn:Ej; [|destruct J]. apply in_map_iff in J.
    destruct J as (what & Z & J). unfold mine, kind_of. unfold item_of in Z. injection Z as <- _ <-.
    apply in_flat_map. exists j. split; [apply (nth_error_In _ _ Ej)|]. apply in_map, J.
  - intros o _ _. eapply Nat.le_trans; [eapply demand_of_tasks; eassumption|exact Sum].
Qed.
End Window.
