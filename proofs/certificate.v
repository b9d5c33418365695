(* A checker of certificates, and what follows once it accepts one. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model executable follows lists usage merged queues sustainable progress serial.

(* What is launched: into which stream, when, and what. *)
Record item := Item { item_stream : nat; item_at : nat; item_work : work }.
Definition item_of (o : operation) : item := Item (stream o) (launched_at o) (what o).
Definition as_operation (i : item) : operation := Op 0 (item_stream i) (item_at i) (item_work i).
(* That all of a stream that is launched at [job_at] is over by [job_due]. *)
Record job := Job { job_stream : nat; job_at : nat; job_due : nat }.
(* A time in which there may be work, how much each launch adds to it at most, and for which jobs this is enough. *)
Record interval := Interval { from : nat; until : nat; terms : list (item * nat); proves : list job }.

Section Checker.
Variables (g : device) (top : nat) (items : list item).

Definition above (i : item) : bool := upper g top (as_operation i).
(* The longest blocks below each level. *)
Definition longest (l : nat) : nat :=
  fold_left (fun m i => match item_work i with
    | Kernel _ _ lasts => if l <? level_of g top (item_stream i) then Nat.max m (worst lasts) else m |
      _ => m end) items 0.
Definition table : list nat := map longest (seq 0 (S (levels g))).
Definition blocking_of (q : nat) : bool := match nth_error (streams g) q with Some k => blocking k | None => false end.

Definition allowedb (i : item) : bool :=
  match item_work i with
  | Kernel n need lasts =>
      existsb (fitsb need) (sms g)
      && match nth_error (streams g) (item_stream i) with Some k => level k <? levels g | None => false end
      && (0 <? slots need) && (0 <? capacity g need)
  | Copy e _ => e <? engines g
  | Instant => true
  | Wait _ => false
  end.
(* Streams and engines that upper streams wait for are theirs alone. *)
Definition null_is_above : bool := forallb above (filter (fun i => item_stream i =? 0) items).
Definition blocking_are_above : bool :=
  forallb above (filter (fun i => negb (item_stream i =? 0) && blocking_of (item_stream i)) items).
Definition null_waits : bool := existsb above (filter (fun i => item_stream i =? 0) items).
Definition null_delays : bool :=
  existsb above (filter (fun i => negb (item_stream i =? 0) && blocking_of (item_stream i)) items).
Definition engine_of (i : item) : option nat := match item_work i with Copy e _ => Some e | _ => None end.
Definition engines_above : bool :=
  forallb (fun e =>
    let copies := filter (fun i => match engine_of i with Some e' => e' =? e | None => false end) items in
    forallb above copies || negb (existsb above copies)) (seq 0 (engines g)).
Definition closedb : bool :=
  forallb allowedb items && (blocking_are_above || negb null_waits) && (null_is_above || negb null_delays)
  && engines_above.

Definition busy (D : nat) (x : item * nat) : nat := Nat.max D (item_at (fst x)) + snd x.
Definition enough (t : list nat) (x : item * nat) : bool :=
  full g top (fun l => nth l t 0) (as_operation (fst x)) <=? snd x.
Definition provesb (i : interval) (j : job) : bool :=
  (level_of g top (job_stream j) <? top) && (job_at j <=? until i) && (until i <=? job_due j).
Fixpoint walk (t : list nat) (last : option nat) (all : list interval) : bool :=
  match all with
  | [] => true
  | i :: rest =>
      match last with Some u => u <? from i | None => true end
      && (from i <=? until i)
      && forallb (fun x => (from i <=? item_at (fst x)) && (item_at (fst x) <=? until i) && enough t x) (terms i)
      && (fold_left busy (terms i) 0 <=? until i)
      && forallb (provesb i) (proves i)
      && walk t (Some (until i)) rest
  end.
Fixpoint same (a b : list item) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b =>
      (item_stream x =? item_stream y) && (item_at x =? item_at y) && work_eqb (item_work x) (item_work y) && same a b
  | _, _ => false
  end.
(* The intervals are about all that upper streams launch, and nothing else. *)
Definition accept (all : list interval) : bool :=
  closedb && same (filter above items) (map fst (flat_map terms all)) && walk table None all.

Lemma same_eq a : forall b, same a b = true -> a = b.
Proof.
  induction a as [|[q t w] a IH]; intros [|[q' t' w'] b] H; try discriminate H; [reflexivity|]. simpl in H.
  rewrite !andb_true_iff, !Nat.eqb_eq in H. destruct H as [[[A B] W] H]. apply work_eqb_eq in W. subst.
  f_equal. apply IH, H.
Qed.

Lemma above_of o : above (item_of o) = upper g top o.
Proof. reflexivity. Qed.

Lemma longest_more l i n need lasts : In i items -> item_work i = Kernel n need lasts ->
  l < level_of g top (item_stream i) -> worst lasts <= longest l.
Proof.
  unfold longest. intros I W L.
  set (f := fun m j => match item_work j with Kernel _ _ la => if l <? level_of g top (item_stream j) then Nat.max m
    (worst
    la) else m | _ => m end).
  assert (Up : forall k m, m <= fold_left f k m).
  { induction k as [|j k IH]; intros m; simpl; [lia|]. specialize (IH (f m j)). unfold f at 1 in IH.
    destruct (item_work j); try (eapply Nat.le_trans; [|exact IH]; reflexivity).
    destruct (l <? level_of g top (item_stream j)); eapply Nat.le_trans; [|exact IH| |exact IH]; lia. }
  generalize 0 as m. revert I. induction items as [|j k IH]; intros I m; [destruct I|]. simpl. destruct I as [->|I].
  - eapply Nat.le_trans; [|apply Up]. unfold f. rewrite W. destruct (Nat.ltb_spec l (level_of g top (item_stream i)));
    lia.
  - apply IH, I.
Qed.

Definition mine (o : operation) : Prop := In (item_of o) items.
Let blocks (l : nat) : nat := nth l table 0.

Lemma accepted_closed : closedb = true -> closed g top blocks mine.
Proof.
  unfold closedb. rewrite !andb_true_iff, !orb_true_iff, !negb_true_iff. intros [[[A B] N] E].
  rewrite forallb_forall in A.
  split.
  - intros o I. specialize (A _ I). unfold allowedb in A. simpl in A. split.
    + unfold can_run. destruct (what o) as [n need la|e la| |[r|]]; try exact Logic.I; try discriminate A.
      * rewrite !andb_true_iff in A. destruct A as [[[F L] _] _]. split.
        { apply existsb_exists in F. destruct F as (cap & J & F). apply In_nth_error in J. destruct J as [j J].
          exists j, cap. split; [exact J|apply fitsb_fits, F]. }
        { destruct (nth_error (streams g) (stream o)) as [[l b]|]; [|discriminate L]. exists l, b.
          split; [reflexivity|apply Nat.ltb_lt, L]. }
      * apply Nat.ltb_lt, A.
    + intros n need la W. rewrite W in A. rewrite !andb_true_iff in A. destruct A as [[[_ L] S] Cp].
      split; [apply Nat.ltb_lt, S|]. split; [apply Nat.ltb_lt, Cp|]. intros l Ll. unfold blocks, table.
      assert (Lv : level_of g top (stream o) < levels g).
      { unfold level_of. destruct (nth_error (streams g) (stream o)) as [k|]; [|discriminate L]. apply Nat.ltb_lt, L. }
      rewrite (nth_indep _ 0 (longest 0)) by (rewrite map_length, seq_length; lia).
      rewrite map_nth, seq_nth by lia. eapply (longest_more l (item_of o)); [exact I|exact W|exact Ll].
  - intros o p Io Ip U [[Z Bl]|[Z [Bl Zp]]].
    + destruct B as [B|B].
      * destruct (Nat.eq_dec (stream p) 0) as [Zp|Zp].
        { unfold upper in *. rewrite Zp, <- Z. exact U. }
        { unfold blocking_are_above in B. rewrite forallb_forall in B. apply (B (item_of p)), filter_In. split;
          [exact Ip|].
          simpl. apply andb_true_iff. split; [apply negb_true_iff, Nat.eqb_neq, Zp|]. unfold blocking_of.
          destruct Bl as [l ->]. reflexivity. }
      * exfalso. unfold null_waits in B. assert (T : existsb above (filter (fun i => item_stream i =? 0) items) = true);
          [|congruence]. apply existsb_exists. exists (item_of o). split; [apply filter_In; split; [exact Io|]|exact U].
        simpl. apply Nat.eqb_eq, Z.
    + destruct N as [N|N].
      * unfold null_is_above in N. rewrite forallb_forall in N. apply (N (item_of p)), filter_In. split; [exact Ip|].
        simpl. apply Nat.eqb_eq, Zp.
      * exfalso. unfold null_delays in N.
        assert (T : existsb above (filter (fun i => negb (item_stream i =? 0) && blocking_of (item_stream i)) items) =
          true);
          [|congruence]. apply existsb_exists. exists (item_of o). split; [apply filter_In; split; [exact Io|]|exact U].
        simpl. apply andb_true_iff. split; [apply negb_true_iff, Nat.eqb_neq, Z|]. unfold blocking_of.
        destruct Bl as [l ->]. reflexivity.
  - intros o p r Io _ _ W. specialize (A _ Io). unfold allowedb in A. simpl in A. rewrite W in A. discriminate A.
  - intros o p e l m Io Ip U Wo Wp. unfold engines_above in E. rewrite forallb_forall in E.
    assert (Le : In e (seq 0 (engines g))).
    { apply in_seq. specialize (A _ Io). unfold allowedb in A. simpl in A. rewrite Wo in A. apply Nat.ltb_lt in A.
      lia. }
    specialize (E e Le). simpl in E. apply orb_true_iff in E.
    assert (Im : forall x n, mine x -> what x = Copy e n -> In (item_of x) (filter (fun i => match engine_of i with
      Some e'
      => e' =? e | None => false end) items)).
    { intros x n Ix W. apply filter_In. split; [exact Ix|]. unfold engine_of. simpl. rewrite W. apply Nat.eqb_refl. }
    destruct E as [E|E].
    + rewrite forallb_forall in E. apply (E _ (Im p m Ip Wp)).
    + exfalso. apply negb_true_iff in E.
      match type of E with ?x = false => assert (T : x = true); [|congruence] end.
      apply existsb_exists. exists (item_of o). split; [apply (Im o l Io Wo)|exact U].
Qed.

Definition sum_between (x F : nat) (l : list (item * nat)) : nat :=
  sum (map (fun t => if (x <=? item_at (fst t)) && (item_at (fst t) <=? F) then snd t else 0) l).
Lemma sum_between_app x F l k : sum_between x F (l ++ k) = sum_between x F l + sum_between x F k.
Proof. unfold sum_between. rewrite map_app, sum_app. reflexivity. Qed.

Lemma busy_long x F l : forall D, x + sum_between x F l <= Nat.max x (fold_left busy l D) /\
  (x <= D -> D + sum_between x F l <= fold_left busy l D) /\ D <= fold_left busy l D.
Proof.
  induction l as [|t l IH]; intros D; [unfold sum_between; simpl; lia|]. simpl.
  destruct (IH (busy D t)) as (A & B & C). unfold busy in *.
  change (sum_between x F (t :: l)) with
    ((if (x <=? item_at (fst t)) && (item_at (fst t) <=? F) then snd t else 0) + sum_between x F l).
  destruct (Nat.leb_spec x (item_at (fst t))), (Nat.leb_spec (item_at (fst t)) F); simpl; repeat split; try lia.
Qed.
Lemma nothing_between x F l : (forall t, In t l -> item_at (fst t) < x \/ F < item_at (fst t)) -> sum_between x F l = 0.
Proof.
  intros H. unfold sum_between. apply sum_none. intros t I. specialize (H t I).
  destruct (Nat.leb_spec x (item_at (fst t))), (Nat.leb_spec (item_at (fst t)) F); simpl; lia.
Qed.

Lemma walk_after all : forall u, walk table (Some u) all = true ->
  (forall t, In t (flat_map terms all) -> u < item_at (fst t)) /\ (forall i, In i all -> u < until i).
Proof.
  induction all as [|i all IH]; intros u H; [split; intros ? []|]. simpl in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[L FU] T] _] _] W]. apply Nat.ltb_lt in L. apply Nat.leb_le in FU. rewrite forallb_forall in T.
  destruct (IH _ W) as [A B]. split.
  - intros t I. simpl in I. apply in_app_iff in I. destruct I as [I|I].
    + specialize (T t I). rewrite !andb_true_iff, !Nat.leb_le in T. lia.
    + specialize (A t I). lia.
  - intros j [<-|I]; [lia|]. specialize (B j I). lia.
Qed.

Lemma walk_idle all : forall last, walk table last all = true -> forall i, In i all -> forall x, x <= until i ->
  x + sum_between x (until i) (flat_map terms all) <= until i.
Proof.
  induction all as [|i0 all IH]; intros last H i I x Lx; [destruct I|]. simpl in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ FU] T] Fd] _] W]. apply Nat.leb_le in Fd. rewrite forallb_forall in T.
  destruct (walk_after _ _ W) as [A B]. simpl. rewrite sum_between_app.
  assert (T' : forall t, In t (terms i0) -> item_at (fst t) <= until i0).
  { intros t J. specialize (T t J). rewrite !andb_true_iff, !Nat.leb_le in T. lia. }
  destruct I as [<-|I].
  - rewrite (nothing_between x (until i0) (flat_map terms all)) by (intros t J; right; apply A, J).
    destruct (busy_long x (until i0) (terms i0) 0) as (Q & _). lia.
  - specialize (B i I). specialize (IH _ W i I). destruct (Nat.le_gt_cases x (until i0)) as [Le|Gt].
    + assert (Z := IH (until i0) ltac:(lia)).
      assert (Q : sum_between x (until i) (flat_map terms all) <= sum_between (until i0) (until i) (flat_map terms
        all)).
      { unfold sum_between. clear - A. induction (flat_map terms all) as [|t l IHl]; simpl; [lia|].
        assert (At := A t (or_introl eq_refl)). specialize (IHl (fun y J => A y (or_intror J))).
        destruct (Nat.leb_spec x (item_at (fst t))), (Nat.leb_spec (until i0) (item_at (fst t))),
          (Nat.leb_spec (item_at (fst t)) (until i)); simpl; lia. }
      destruct (busy_long x (until i) (terms i0) 0) as (R & _). lia.
    + rewrite (nothing_between x (until i) (terms i0)) by (intros t J; left; specialize (T' t J); lia).
      specialize (IH x Lx). lia.
Qed.

Lemma walk_proves all : forall last, walk table last all = true -> forall i, In i all ->
  (forall t, In t (terms i) -> enough table t = true) /\ (forall j, In j (proves i) -> provesb i j = true).
Proof.
  induction all as [|i0 all IH]; intros last H i I; [destruct I|]. simpl in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ FU] T] Fd] Pr] W]. destruct I as [<-|I]; [|apply (IH _ W i I)].
  rewrite forallb_forall in T, Pr. split; [|exact Pr]. intros t J. specialize (T t J). rewrite !andb_true_iff in T.
    tauto.
Qed.

(* What a run launches adds no more than the terms. *)
Lemma demand_of_items x F ops rest all : Permutation (map item_of ops ++ rest) items ->
  filter above items = map fst all -> (forall t, In t all -> enough table t = true) ->
  demand g top blocks x F ops <= sum_between x F all.
Proof.
  intros Perm Same En.
  set (add := fun i => if (x <=? item_at i) && (item_at i <=? F) then of_upper g top (full g top blocks) (as_operation
    i)
    else 0).
  assert (A : demand g top blocks x F ops <= sum (map add items)).
  { assert (Q : forall l k, Permutation l k -> sum (map add l) = sum (map add k)).
    { intros l k H. induction H; simpl; lia. }
    rewrite <- (Q _ _ Perm), map_app, sum_app, map_map. unfold demand. clear.
    assert (Z : forall o, (if (x <=? launched_at o) && (launched_at o <=? F) then of_upper g top (full g top blocks) o
      else 0)
      = add (item_of o)) by reflexivity.
    induction ops; simpl; [lia|]. rewrite Z in *. lia. }
  assert (B : sum (map add items) = sum (map add (filter above items))).
  { clear. induction items as [|i l IH]; simpl; [reflexivity|]. destruct (above i) eqn:U; simpl; [lia|].
    assert (add i = 0); [|lia]. unfold add, of_upper. unfold above in U. rewrite U.
    destruct (_ && _); reflexivity. }
  rewrite Same, map_map in B.
  assert (D : sum (map (fun t => add (fst t)) all) <= sum_between x F all); [|lia].
  clear - En. unfold sum_between. induction all as [|t l IH]; simpl; [lia|].
  specialize (IH (fun y J => En y (or_intror J))). assert (E := En t (or_introl eq_refl)).
  unfold enough in E. apply Nat.leb_le in E. unfold add at 1, of_upper. fold blocks in E.
  destruct ((x <=? item_at (fst t)) && (item_at (fst t) <=? F)); [|lia].
  destruct (upper g top (as_operation (fst t))); lia.
Qed.

(* In every run that launches some or all of the items, in any order of what is launched at one instant, all of a job is
   over once its time is up. *)
Theorem accepted_certificates_hold : forall all, accept all = true ->
  forall i j, In i all -> In j (proves i) ->
  forall xs s rest, steps g (empty g) xs s -> Permutation (map item_of (launches xs) ++ rest) items ->
  job_due j < now s ->
  everywhere (fun o => ~ (stream o = job_stream j /\ launched_at o = job_at j)) s.
Proof.
  intros all H i j Ii Ij xs s rest St Perm Late. unfold accept in H. rewrite !andb_true_iff in H.
  destruct H as [[Cl Sm] W]. apply same_eq in Sm. destruct (walk_proves all None W i Ii) as [_ Pr].
    specialize (Pr j Ij).
  unfold provesb in Pr. rewrite !andb_true_iff, !Nat.leb_le in Pr. destruct Pr as [[U A] D].
  assert (En : forall t, In t (flat_map terms all) -> enough table t = true).
  { intros t I. apply in_flat_map in I. destruct I as (k & Ik & It). apply (walk_proves all None W k Ik), It. }
  assert (Ov := over_by g top blocks mine (accepted_closed Cl) xs s (until i) St).
  eapply everywhere_weaker; [|apply Ov].
  - simpl. intros o H [So Lo]. assert (Uo : upper g top o = true) by (unfold upper; rewrite So; exact U).
    specialize (H Uo). lia.
  - intros o I. unfold mine. eapply Permutation_in; [exact Perm|]. apply in_app_iff. left. apply in_map, I.
  - intros o I _ L. assert (Dm := demand_of_items (launched_at o) (until i) _ _ _ Perm Sm En).
    assert (Id := walk_idle all None W i Ii (launched_at o) L). lia.
  - lia.
Qed.
End Checker.
