(* Independent kernels of one priority are assigned in the order of their launches: docs/analysis.md, sections 3, 4. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists usage pooled merged sustainable.

(* Every operation goes on as soon as it is launched, and nothing else ever does. *)
Inductive independent : list label -> Prop :=
| Independent_nil : independent []
| Independent_launch o xs : independent xs -> independent (Launch o :: GoOn o :: xs)
| Independent_other x xs :
    (forall o, x <> Launch o) -> (forall o, x <> GoOn o) -> independent xs -> independent (x :: xs).

Fixpoint launches_of (xs : list label) : list operation :=
  match xs with [] => [] | Launch o :: rest => o :: launches_of rest | _ :: rest => launches_of rest end.
(* Its blocks. *)
Definition blocks_of (o : operation) : list operation :=
  match what o with Kernel n _ _ => repeat o n | _ => [] end.
(* The blocks of the EE queues that are not assigned. *)
Definition unassigned (s : state) : list operation :=
  flat_map (flat_map (fun x : operation * nat => repeat (fst x) (snd x))) (ee s).

Lemma go_on_ee g s o t : length (ee s) = 1 -> step g s (GoOn o) t ->
  length (ee t) = 1 /\ unassigned t = unassigned s ++ blocks_of o.
Proof.
  intros L H. unfold unassigned, blocks_of. destruct (ee s) as [|k [|? ?]] eqn:E; try discriminate L.
  inversion H; subst; simpl; rewrite E in *; simpl.
  - match goal with K : nth_error [k] ?l = Some _ |- _ => destruct l as [|[|]]; try discriminate K;
      injection K as -> end.
    match goal with W : what o = _ |- _ => rewrite W end. split; [reflexivity|].
    simpl. rewrite flat_map_app. simpl. rewrite !app_nil_r. reflexivity.
  - match goal with W : what o = _ |- _ => rewrite W end. rewrite !app_nil_r. split; reflexivity.
  - match goal with W : _ \/ _ |- _ => destruct W as [W|[? W]]; rewrite W end; rewrite !app_nil_r; split; reflexivity.
Qed.

Lemma blocks_in_order g : forall xs s t,
  independent xs -> length (ee s) = 1 -> steps g s xs t ->
  map kernel (assigned (now s) xs) ++ unassigned t = unassigned s ++ flat_map blocks_of (launches_of xs).
Proof.
  intros xs s t I. revert s t. induction I as [|o xs I IH|x xs NL NG I IH]; intros s t L H.
  - inversion H; subst. simpl. rewrite app_nil_r. reflexivity.
  - inversion H as [|? s1 ? ? ? H1 H']; subst. inversion H' as [|? s2 ? ? ? H2 H3]; subst. simpl.
    assert (L1 : ee s1 = ee s) by (inversion H1; reflexivity).
    assert (N1 : now s1 = now s) by (inversion H1; reflexivity).
    assert (N2 : now s2 = now s1) by (inversion H2; reflexivity).
    rewrite <- L1 in L. destruct (go_on_ee g s1 o s2 L H2) as [L2 U]. specialize (IH s2 t L2 H3).
    rewrite N2, N1 in IH. rewrite IH, U, app_assoc. unfold unassigned. rewrite L1. reflexivity.
  - inversion H as [|? s1 ? ? ? H1 H']; subst.
    destruct x as [o|o|o d|o i d|o p| | | |u]; try (destruct (NL o eq_refl)); try (destruct (NG o eq_refl));
      try (assert (Es : ee s1 = ee s) by (inversion H1; reflexivity);
           assert (X := IH s1 t (eq_trans (f_equal _ Es) L) H'); clear IH H'; inversion H1; subst; exact X).
    (* a block is assigned *)
    simpl. destruct (ee s) as [|k [|? ?]] eqn:E; try discriminate L. inversion H1; subst.
    match goal with K : next_kernel s ?l _ _ _ |- _ => destruct K as [K _]; rewrite E in K;
      destruct l as [|[|]]; try discriminate K; simpl in K; injection K as -> end.
    rewrite E in H'. match type of H' with steps g ?st xs t => specialize (IH st t eq_refl H') end.
    simpl in IH. unfold unassigned in *. simpl in IH |- *. rewrite E. rewrite IH.
    simpl. destruct n; reflexivity.
Qed.

(* The blocks of a run are those of its launches, in their order, as far as they are assigned. *)
Theorem assigned_in_launch_order :
  forall g xs t, levels g = 1 -> independent xs -> steps g (empty g) xs t ->
  map kernel (assigned 0 xs) ++ unassigned t = flat_map blocks_of (launches_of xs).
Proof.
  intros g xs t L I H. assert (E : ee (empty g) = [[]]) by (simpl; rewrite L; reflexivity).
  assert (X := blocks_in_order g xs (empty g) t I). rewrite E in X. specialize (X eq_refl H). simpl in X.
  unfold unassigned in X at 2. simpl in X. rewrite L in X. exact X.
Qed.

Lemma independent_goes_at_launch g : forall xs s t, independent xs -> steps g s xs t -> goes_at_launch (now s) xs.
Proof.
  intros xs s t I. revert s t. induction I as [|o xs I IH|x xs NL NG I IH]; intros s t H; [exact Logic.I| |].
  - inversion H as [|? s1 ? ? ? H1 H']; subst. inversion H' as [|? s2 ? ? ? H2 H3]; subst. simpl.
    assert (A : launched_at o = now s) by (inversion H1; assumption).
    assert (N1 : now s1 = now s) by (inversion H1; reflexivity).
    assert (N2 : now s2 = now s1) by (inversion H2; reflexivity).
    split; [exact A|]. rewrite <- N1, <- N2. apply (IH s2 t H3).
  - inversion H as [|? s1 ? ? ? H1 H']; subst. specialize (IH s1 t H').
    destruct x as [o|o|o d|o i d|o p| | | |u]; try (destruct (NL o eq_refl)); try (destruct (NG o eq_refl)); simpl;
      inversion H1; subst; exact IH.
Qed.

(* Kernels of equal blocks, one priority, the same launches, all of them assigned: no block starts later in the run in
   which none is longer. *)
Theorem equal_independent_kernels_are_sustainable :
  forall need g c xs ys t u,
  0 < slots need -> masks g = [] -> levels g = 1 -> Forall2 (holds need) (sms g) c ->
  (forall o, In o (launches_of xs) -> needs need o) -> launches_of ys = launches_of xs ->
  steps g (empty g) xs t -> independent xs -> unassigned t = [] ->
  steps g (empty g) ys u -> independent ys -> unassigned u = [] ->
  Forall2 (fun b' b => length_ns b' <= length_ns b) (assigned 0 ys) (assigned 0 xs) ->
  Forall2 (fun b' b => start b' <= start b) (assigned 0 ys) (assigned 0 xs).
Proof.
  intros need g c xs ys t u Pos Ma L C N Same X Ix Ex Y Iy Ey D.
  assert (Launched : forall zs o, In (Launch o) zs -> In o (launches_of zs)).
  { induction zs as [|z zs IH]; intros o I; [destruct I|]. destruct I as [->|I]; [left; reflexivity|].
    specialize (IH o I). destruct z; simpl; try exact IH. right. exact IH. }
  assert (Ox := assigned_in_launch_order g xs t L Ix X). assert (Oy := assigned_in_launch_order g ys u L Iy Y).
  rewrite Ex, app_nil_r in Ox. rewrite Ey, app_nil_r, Same, <- Ox in Oy.
  apply (shorter_blocks_start_no_later need g c xs ys t u); auto.
  - intros o I. apply N. rewrite <- Same. apply (Launched ys o I).
  - change 0 with (now (empty g)). apply (independent_goes_at_launch g ys (empty g) u Iy Y).
  - clear - D Oy. revert Oy. induction D as [|b' b l' l H D IH]; intros E; constructor.
    + simpl in E. injection E as E _. split; assumption.
    + simpl in E. injection E as _ E. apply (IH E).
Qed.
