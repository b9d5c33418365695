(* A checker of certificates, and what follows once it accepts one. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model executable follows lists usage capacity serial closed busy.

(* What is launched: into which stream, when, and what. *)
Record item := Item { item_stream : nat; item_at : nat; item_work : work }.
Definition item_of (o : operation) : item := Item (stream o) (launched_at o) (what o).
Definition kind_at (i : item) : kind := (item_stream i, item_work i).

(* What one of them adds if it is launched between [x] and [F], and what a run adds that launches some of them. *)
Definition between (g : device) (top : nat) (blocks : nat -> nat) (x F : nat) (i : item) : nat :=
  if (x <=? item_at i) && (item_at i <=? F) then of_upper g top (full g top blocks) (of_kind (kind_at i)) else 0.
Lemma demand_of_launched g top blocks x F ops rest all : Permutation (map item_of ops ++ rest) all ->
  demand g top blocks x F ops <= sum (map (between g top blocks x F) all).
Proof.
  intros H. assert (Q : forall l k, Permutation l k ->
    sum (map (between g top blocks x F) l) = sum (map (between g top blocks x F) k)).
  { intros l k Z. induction Z; simpl; lia. }
  rewrite <- (Q _ _ H), map_app, sum_app, map_map. unfold demand. clear.
  assert (Z : forall o, (if (x <=? launched_at o) && (launched_at o <=? F) then of_upper g top (full g top blocks) o
    else 0) = between g top blocks x F (item_of o)) by reflexivity.
  induction ops; simpl; [lia|]. rewrite Z in *. lia.
Qed.

(* That all of a stream that is launched at [job_at] is over by [job_due]. *)
Record job := Job { job_stream : nat; job_at : nat; job_due : nat }.
(* A time in which there may be work, how much each launch adds to it at most, and for which jobs this is enough. *)
Record interval := Interval { from : nat; until : nat; terms : list (item * nat); proves : list job }.

Section Checker.
Variables (g : device) (top : nat) (items : list item).

Definition kinds : list kind := map kind_at items.
Definition is_above (i : item) : bool := above g top (kind_at i).
Definition adds (D : nat) (x : item * nat) : nat := Nat.max D (item_at (fst x)) + snd x.
Definition enough (t : list nat) (x : item * nat) : bool :=
  full g top (fun l => nth l t 0) (of_kind (kind_at (fst x))) <=? snd x.
Definition provesb (i : interval) (j : job) : bool :=
  (level_of g top (job_stream j) <? top) && (job_at j <=? until i) && (until i <=? job_due j).
Fixpoint walk (t : list nat) (last : option nat) (all : list interval) : bool :=
  match all with
  | [] => true
  | i :: rest =>
      match last with Some u => u <? from i | None => true end
      && (from i <=? until i)
      && forallb (fun x => (from i <=? item_at (fst x)) && (item_at (fst x) <=? until i) && enough t x) (terms i)
      && (fold_left adds (terms i) 0 <=? until i)
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
  closedb g top kinds && same (filter is_above items) (map fst (flat_map terms all))
  && walk (table g top kinds) None all.

Lemma same_eq a : forall b, same a b = true -> a = b.
Proof.
  induction a as [|[q t w] a IH]; intros [|[q' t' w'] b] H; try discriminate H; [reflexivity|]. simpl in H.
  rewrite !andb_true_iff, !Nat.eqb_eq in H. destruct H as [[[A B] W] H]. apply work_eqb_eq in W. subst.
  f_equal. apply IH, H.
Qed.

Definition sum_between (x F : nat) (l : list (item * nat)) : nat :=
  sum (map (fun t => if (x <=? item_at (fst t)) && (item_at (fst t) <=? F) then snd t else 0) l).
Lemma sum_between_app x F l k : sum_between x F (l ++ k) = sum_between x F l + sum_between x F k.
Proof. unfold sum_between. rewrite map_app, sum_app. reflexivity. Qed.

Lemma adds_long x F l : forall D, x + sum_between x F l <= Nat.max x (fold_left adds l D) /\
  (x <= D -> D + sum_between x F l <= fold_left adds l D) /\ D <= fold_left adds l D.
Proof.
  induction l as [|t l IH]; intros D; [unfold sum_between; simpl; lia|]. simpl.
  destruct (IH (adds D t)) as (A & B & C). unfold adds in *.
  change (sum_between x F (t :: l)) with
    ((if (x <=? item_at (fst t)) && (item_at (fst t) <=? F) then snd t else 0) + sum_between x F l).
  destruct (Nat.leb_spec x (item_at (fst t))), (Nat.leb_spec (item_at (fst t)) F); simpl; repeat split; try lia.
Qed.
Lemma nothing_between x F l : (forall t, In t l -> item_at (fst t) < x \/ F < item_at (fst t)) -> sum_between x F l = 0.
Proof.
  intros H. unfold sum_between. apply sum_none. intros t I. specialize (H t I).
  destruct (Nat.leb_spec x (item_at (fst t))), (Nat.leb_spec (item_at (fst t)) F); simpl; lia.
Qed.

Lemma walk_after all : forall u, walk (table g top kinds) (Some u) all = true ->
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

Lemma walk_idle all : forall last, walk (table g top kinds) last all = true ->
  forall i, In i all -> forall x, x <= until i -> x + sum_between x (until i) (flat_map terms all) <= until i.
Proof.
  induction all as [|i0 all IH]; intros last H i I x Lx; [destruct I|]. simpl in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ FU] T] Fd] _] W]. apply Nat.leb_le in Fd. rewrite forallb_forall in T.
  destruct (walk_after _ _ W) as [A B]. simpl. rewrite sum_between_app.
  assert (T' : forall t, In t (terms i0) -> item_at (fst t) <= until i0).
  { intros t J. specialize (T t J). rewrite !andb_true_iff, !Nat.leb_le in T. lia. }
  destruct I as [<-|I].
  - rewrite (nothing_between x (until i0) (flat_map terms all)) by (intros t J; right; apply A, J).
    destruct (adds_long x (until i0) (terms i0) 0) as (Q & _). lia.
  - specialize (B i I). specialize (IH _ W i I). destruct (Nat.le_gt_cases x (until i0)) as [Le|Gt].
    + assert (Z := IH (until i0) ltac:(lia)).
      assert (Q : sum_between x (until i) (flat_map terms all) <= sum_between (until i0) (until i) (flat_map terms
        all)).
      { unfold sum_between. clear - A. induction (flat_map terms all) as [|t l IHl]; simpl; [lia|].
        assert (At := A t (or_introl eq_refl)). specialize (IHl (fun y J => A y (or_intror J))).
        destruct (Nat.leb_spec x (item_at (fst t))), (Nat.leb_spec (until i0) (item_at (fst t))),
          (Nat.leb_spec (item_at (fst t)) (until i)); simpl; lia. }
      destruct (adds_long x (until i) (terms i0) 0) as (R & _). lia.
    + rewrite (nothing_between x (until i) (terms i0)) by (intros t J; left; specialize (T' t J); lia).
      specialize (IH x Lx). lia.
Qed.

Lemma walk_proves all : forall last, walk (table g top kinds) last all = true -> forall i, In i all ->
  (forall t, In t (terms i) -> enough (table g top kinds) t = true) /\
  (forall j, In j (proves i) -> provesb i j = true).
Proof.
  induction all as [|i0 all IH]; intros last H i I; [destruct I|]. simpl in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ FU] T] Fd] Pr] W]. destruct I as [<-|I]; [|apply (IH _ W i I)].
  rewrite forallb_forall in T, Pr. split; [|exact Pr]. intros t J. specialize (T t J). rewrite !andb_true_iff in T.
    tauto.
Qed.

Let blocks (l : nat) : nat := nth l (table g top kinds) 0.
(* What a run launches adds no more than the terms. *)
Lemma demand_of_items x F ops rest all : Permutation (map item_of ops ++ rest) items ->
  filter is_above items = map fst all -> (forall t, In t all -> enough (table g top kinds) t = true) ->
  demand g top blocks x F ops <= sum_between x F all.
Proof.
  intros Perm Same En. assert (A := demand_of_launched g top blocks x F ops rest items Perm).
  set (add := between g top blocks x F) in *.
  assert (B : sum (map add items) = sum (map add (filter is_above items))).
  { clear. induction items as [|i l IH]; simpl; [reflexivity|]. destruct (is_above i) eqn:U; simpl; [lia|].
    assert (add i = 0); [|lia]. unfold add, between, of_upper. unfold is_above, above in U. rewrite U.
    destruct (_ && _); reflexivity. }
  rewrite Same, map_map in B.
  assert (D : sum (map (fun t => add (fst t)) all) <= sum_between x F all); [|lia].
  clear - En. unfold sum_between. induction all as [|t l IH]; simpl; [lia|].
  specialize (IH (fun y J => En y (or_intror J))). assert (E := En t (or_introl eq_refl)).
  unfold enough in E. apply Nat.leb_le in E. unfold add at 1, between, of_upper. fold blocks in E.
  destruct ((x <=? item_at (fst t)) && (item_at (fst t) <=? F)); [|lia].
  destruct (upper g top (of_kind (kind_at (fst t)))); lia.
Qed.

(* In every run that launches some or all of the items, in any order of what is launched at one instant, all that upper
   streams launch in an interval, or before it, is over once it is. *)
Lemma over_after_interval : forall all, accept all = true -> forall i, In i all ->
  forall xs s rest, steps g (empty g) xs s -> Permutation (map item_of (launches xs) ++ rest) items ->
  until i < now s -> everywhere (fun o => upper g top o = true -> until i < launched_at o) s.
Proof.
  intros all H i Ii xs s rest St Perm Late. unfold accept in H. rewrite !andb_true_iff in H.
  destruct H as [[Cl Sm] W]. apply same_eq in Sm.
  assert (En : forall t, In t (flat_map terms all) -> enough (table g top kinds) t = true).
  { intros t I. apply in_flat_map in I. destruct I as (k & Ik & It). apply (walk_proves all None W k Ik), It. }
  apply (over_by g top blocks (mine kinds) (accepted_closed g top kinds Cl) xs s (until i) St); [| |exact Late].
  - intros o I. apply (in_map kind_at items (item_of o)). eapply Permutation_in; [exact Perm|]. apply in_app_iff. left.
    apply in_map, I.
  - intros o I _ L. assert (Dm := demand_of_items (launched_at o) (until i) _ _ _ Perm Sm En).
    assert (Id := walk_idle all None W i Ii (launched_at o) L). lia.
Qed.
(* So all of a job is over once its time is up. *)
Theorem accepted_certificates_hold : forall all, accept all = true ->
  forall i j, In i all -> In j (proves i) ->
  forall xs s rest, steps g (empty g) xs s -> Permutation (map item_of (launches xs) ++ rest) items ->
  job_due j < now s ->
  everywhere (fun o => ~ (stream o = job_stream j /\ launched_at o = job_at j)) s.
Proof.
  intros all H i j Ii Ij xs s rest St Perm Late. assert (A := H). unfold accept in A. rewrite !andb_true_iff in A.
  destruct (walk_proves all None (proj2 A) i Ii) as [_ Pr]. specialize (Pr j Ij). unfold provesb in Pr.
  rewrite !andb_true_iff, !Nat.leb_le in Pr. destruct Pr as [[U B] D].
  eapply everywhere_weaker; [|apply (over_after_interval all H i Ii xs s rest St Perm)]; [|lia].
  simpl. intros o Ov [So Lo]. assert (Uo : upper g top o = true) by (unfold upper; rewrite So; exact U).
  specialize (Ov Uo). lia.
Qed.
End Checker.
