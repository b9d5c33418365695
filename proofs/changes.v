(* How long W warps of one kernel can take where there are two units that serve one warp a cycle each: the bound of
   docs/warps.md, section 4.2. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists warps.

(* The lengths of the runs of one letter. *)
Fixpoint runs (w : list nat) : list nat :=
  match w with
  | [] => []
  | x :: rest =>
      match runs rest with n :: more => if next_is x rest then S n :: more else 1 :: n :: more | [] => [1] end
  end.
(* How many changes each maximal group of linked ones has, from a change on, the [k]-th of its group, with these runs
   behind it: a run of one letter between two changes links them. *)
Fixpoint groups (k : nat) (behind : list nat) : list nat :=
  match behind with
  | [] => []
  | n :: more =>
      match more with
      | [] => [k]
      | _ => if n =? 1 then groups (S k) more else k :: groups 1 more
      end
  end.
Definition half_up (k : nat) : nat := (k + 1) / 2.
(* M: half of each group, rounded up. *)
Definition of_changes (behind : list nat) : nat := sum (map half_up (groups 1 behind)).
Definition weight_of_changes (w : list nat) : nat := of_changes (tl (runs w)).

(* LLC, LLCLL, LCL, LCLCL and LLCCLL. *)
Lemma weights_of_the_page : map weight_of_changes
  [[0; 0; 1]; [0; 0; 1; 0; 0]; [0; 1; 0]; [0; 1; 0; 1; 0]; [0; 0; 1; 1; 0; 0]] = [1; 1; 1; 2; 2].
Proof. reflexivity. Qed.

Lemma half_up_more k : half_up k <= half_up (S k) <= S (half_up k) /\ half_up (S (S k)) = S (half_up k).
Proof.
  unfold half_up. replace (S (S k) + 1) with (k + 1 + 1 * 2) by lia. rewrite Nat.div_add by lia.
  assert (A := Nat.div_le_mono (k + 1) (S k + 1) 2 ltac:(lia) ltac:(lia)).
  assert (B := Nat.div_le_mono (S k + 1) (k + 1 + 1 * 2) 2 ltac:(lia) ltac:(lia)). rewrite Nat.div_add in B by lia. lia.
Qed.
Lemma one_more_linked behind : forall k,
  sum (map half_up (groups (S k) behind)) <= S (sum (map half_up (groups k behind))).
Proof.
  induction behind as [|n more IH]; intros k; simpl; [lia|]. assert (H := proj1 (half_up_more k)).
  destruct more; [simpl; lia|]. destruct (n =? 1); [apply IH|simpl; lia].
Qed.
Lemma two_more_linked behind : forall k, behind <> [] ->
  sum (map half_up (groups (S (S k)) behind)) = S (sum (map half_up (groups k behind))).
Proof.
  induction behind as [|n more IH]; intros k N; [congruence|]. simpl. assert (H := proj2 (half_up_more k)).
  destruct more; [simpl; lia|]. destruct (n =? 1); [apply IH; discriminate|simpl; lia].
Qed.

Lemma some_run x w : exists n more, runs (x :: w) = n :: more.
Proof. simpl. destruct (runs w); [eauto|]. destruct (next_is x w); eauto. Qed.
Lemma runs_change x y w : x <> y -> runs (x :: y :: w) = 1 :: runs (y :: w).
Proof.
  intros N. destruct (some_run y w) as (n & more & E). cbn [runs next_is] in *. rewrite E.
  destruct (Nat.eqb_spec y x); [congruence|reflexivity].
Qed.
Lemma no_change x w : weight_of_changes (x :: x :: w) = weight_of_changes (x :: w).
Proof.
  unfold weight_of_changes. destruct (some_run x w) as (n & more & E). cbn [runs next_is] in *. rewrite E, Nat.eqb_refl.
  reflexivity.
Qed.
(* A letter adds one at most, *)
Lemma one_letter x w : weight_of_changes (x :: w) <= S (weight_of_changes w).
Proof.
  destruct w as [|y w]; [apply Nat.le_0_l|]. destruct (Nat.eq_dec x y) as [->|N]; [rewrite no_change; lia|].
  unfold weight_of_changes. rewrite runs_change by exact N. destruct (some_run y w) as (n & more & ->).
  unfold of_changes. simpl. destruct more as [|m more]; [apply le_n|].
  destruct (n =? 1); [apply one_more_linked|apply le_n].
Qed.
(* and so do two. *)
Lemma two_letters x y w : weight_of_changes (x :: y :: w) <= S (weight_of_changes w).
Proof.
  destruct (Nat.eq_dec x y) as [->|N]; [rewrite no_change; apply one_letter|].
  destruct w as [|z w].
  { unfold weight_of_changes. rewrite runs_change by exact N. apply le_n. }
  destruct (Nat.eq_dec y z) as [->|N']; [rewrite <- (no_change z w); apply one_letter|].
  unfold weight_of_changes. rewrite runs_change, runs_change by assumption. destruct (some_run z w) as (n & more & ->).
  unfold of_changes. cbn [tl groups Nat.eqb]. destruct more as [|m more]; [apply le_n|].
  destruct (n =? 1); [|apply le_n]. rewrite two_more_linked by discriminate. apply le_n.
Qed.
Lemma fewer_than_letters w : weight_of_changes w <= length w.
Proof. induction w as [|x w IH]; [apply le_n|]. assert (H := one_letter x w). simpl. lia. Qed.

(* What of M is gone once the next letter is [b], or nothing is left, is no more than the letters other than [b] that
   were done. *)
Lemma gone_with_the_other a b : a <> b -> forall done left, Forall (fun u => u = a \/ u = b) done ->
  (forall u w, left = u :: w -> u = b) ->
  weight_of_changes (done ++ left) <= on_unit a done + weight_of_changes left.
Proof.
  intros N done left. remember (length done) as size eqn:L. revert done L.
  induction size as [size IH] using (well_founded_induction lt_wf). intros done -> F B.
  destruct done as [|x done]; [apply le_n|]. inversion F as [|? ? Fx F']; subst.
  assert (Rest := IH (length done) ltac:(simpl; lia) done eq_refl F' B). simpl. destruct Fx as [-> | ->].
  - unfold on_unit in *. simpl. rewrite Nat.eqb_refl. simpl. assert (H := one_letter a (done ++ left)). lia.
  - assert (E : on_unit a (b :: done) = on_unit a done)
      by (unfold on_unit; simpl; rewrite (proj2 (Nat.eqb_neq a b) N); reflexivity).
    rewrite E. destruct done as [|y done]; simpl in *.
    + destruct left as [|u w]; [apply le_n|]. rewrite (B u w eq_refl), no_change. apply le_n.
    + inversion F' as [|? ? Fy F'']; subst. destruct Fy as [-> | ->]; [|rewrite no_change; exact Rest].
      specialize (IH (length done) ltac:(lia) done eq_refl F'' B). assert (H := two_letters b a (done ++ left)).
      unfold on_unit in *. simpl. rewrite Nat.eqb_refl. simpl. lia.
Qed.

(* Sums over all warps but one. *)
Lemma all_but_one (f h f' h' : list nat -> nat) r t : Forall2 (fun x y => f x + h y <= f' x + h' y) r t ->
  forall i x y, nth_error r i = Some x -> nth_error t i = Some y ->
  sum (map f r) + sum (map h t) + (f' x + h' y) <= sum (map f' r) + sum (map h' t) + (f x + h y).
Proof.
  intros F. assert (All : sum (map f r) + sum (map h t) <= sum (map f' r) + sum (map h' t))
    by (induction F; simpl; lia).
  induction F as [|a b r t H F IH]; intros [|i] x y E E'; try discriminate; simpl in *.
  - injection E as ->. injection E' as ->. assert (sum (map f r) + sum (map h t) <= sum (map f' r) + sum (map h' t))
      by (clear - F; induction F; simpl; lia). lia.
  - specialize (IH ltac:(clear - F; induction F; simpl; lia) i x y E E'). lia.
Qed.

Definition begins_with (a : nat) (w : list nat) : Prop := forall u rest, w = u :: rest -> u = a.
Definition is_left_of (whole w : list nat) : Prop := exists done, whole = done ++ w.

Lemma on_unit_app u v w : on_unit u (v ++ w) = on_unit u v + on_unit u w.
Proof. unfold on_unit. rewrite filter_app, app_length. reflexivity. Qed.

Lemma left_of_one r t : Forall2 is_left_of r t -> forall i y, nth_error t i = Some y ->
  exists x, nth_error r i = Some x /\ is_left_of x y.
Proof.
  induction 1 as [|x y r t L F IH]; intros [|i] z E; try discriminate E; simpl in *; [|apply (IH i z E)].
  injection E as <-. exists x. split; [reflexivity|exact L].
Qed.
Lemma advance_left r t : Forall2 is_left_of r t -> forall served, Forall2 is_left_of r (advance t served).
Proof.
  induction 1 as [|x y r t [done ->] F IH]; intros [|b served]; simpl; constructor; try apply IH; try assumption.
  - exists done. reflexivity.
  - destruct b; [|exists done; reflexivity]. destruct y as [|u y]; [exists done; reflexivity|].
    exists (done ++ [u]). rewrite <- app_assoc. reflexivity.
Qed.
Lemma advance_units (P : nat -> Prop) t : Forall (Forall P) t -> forall served, Forall (Forall P) (advance t served).
Proof.
  induction 1 as [|y t H F IH]; intros [|b served]; simpl; constructor; try apply IH; try assumption.
  destruct b; [|assumption]. destruct H; [constructor|assumption].
Qed.

Local Notation one_each := (fun _ : nat => 1).
Definition other (a : nat) : nat := 1 - a.

(* While a warp is not done, its unit works. *)
Lemma somebody_is_served t served i u rest : cycle one_each t served -> nth_error t i = Some (u :: rest) ->
  serves u t served = 1.
Proof.
  intros C E. assert (Cap := cycle_capacity _ _ _ C u). simpl in Cap. destruct (nth_error served i) as [[|]|] eqn:Es.
  - assert (S := serves_itself _ t served i rest E Es). lia.
  - assert (S := cycle_conserves _ _ _ C i _ rest E Es). simpl in S. lia.
  - apply nth_error_None in Es. rewrite (cycle_warps _ _ _ C) in Es.
    assert (i < length t) by (apply nth_error_Some; congruence). lia.
Qed.

(* Before a cycle in which one unit alone works, all that is left of each warp begins with that unit. *)
Lemma alone_means_all_wait a t served : Forall (Forall (fun u => u < 2)) t -> a < 2 -> cycle one_each t served ->
  serves (other a) t served = 0 -> Forall (begins_with a) t.
Proof.
  intros Two A C Z. apply Forall_forall. intros w I u rest ->. apply In_nth_error in I. destruct I as [i E].
  assert (U : u < 2).
  { rewrite Forall_forall in Two. specialize (Two _ (nth_error_In _ _ E)). inversion Two. assumption. }
  destruct (Nat.eq_dec u a) as [Q|Q]; [exact Q|]. exfalso.
  assert (u = other a) by (unfold other; lia). subst u.
  assert (S := somebody_is_served t served i (other a) rest C E). lia.
Qed.

(* So far: in [before] + [since] cycles both units worked. [r] is what was left of each warp before the last cycle in
   which one unit, [a], worked alone; [since] are those after it. What all warps but [i] had lost of M by then is no
   more than [before]. *)
Record history (string : list nat) (number n : nat) (t : warps) (i before since a : nat) (r : warps) : Prop := {
  of_two : Forall (Forall (fun u => u < 2)) t;
  of_two_before : Forall (Forall (fun u => u < 2)) r;
  letter : a < 2;
  all_wait : Forall (begins_with a) r;
  left_of : Forall2 is_left_of r t;
  done_since : all_on (other a) r <= all_on (other a) t + since;
  done_with : all_on a r <= all_on a t + since + 1;
  cycles_so_far : n + before + since + (all_on 0 t + all_on 1 t) <= number * length string;
  paid : forall z, nth_error r i = Some z ->
    (number - 1) * weight_of_changes string + weight_of_changes z <= before + sum (map weight_of_changes r)
}.

Lemma two_units w : Forall (fun u => u < 2) w -> on_unit 0 w + on_unit 1 w = length w.
Proof.
  unfold on_unit. induction 1 as [|u w U F IH]; [reflexivity|]. cbn [filter length].
  destruct (Nat.eqb_spec 0 u), (Nat.eqb_spec 1 u); cbn [length]; lia.
Qed.
Lemma either a w : a < 2 -> Forall (fun u => u < 2) w -> Forall (fun u => u = other a \/ u = a) w.
Proof. intros A. apply Forall_impl. unfold other. intros u. lia. Qed.

Lemma one_more_cycle string number n t i before since a r served :
  history string number n t i before since a r -> cycle one_each t served ->
  (exists u rest, nth_error t i = Some (u :: rest)) ->
  exists before' since' a' r', history string number (S n) (advance t served) i before' since' a' r'.
Proof.
  intros H C (u & rest & E). destruct H as [Two Two' A Wait Left Others With Sum Paid].
  assert (U : u < 2).
  { rewrite Forall_forall in Two. specialize (Two _ (nth_error_In _ _ E)). inversion Two. assumption. }
  assert (Mine := somebody_is_served t served i u rest C E).
  assert (D := fun v => served_are_done v t served (cycle_warps _ _ _ C) (cycle_unfinished _ _ _ C)).
  assert (Cap := cycle_capacity _ _ _ C). simpl in Cap.
  assert (D0 := D 0). assert (D1 := D 1).
  assert (Both : serves 0 t served + serves 1 t served = 1 + serves (other u) t served).
  { unfold other. destruct u as [|[|u]]; simpl in *; lia. }
  destruct (serves (other u) t served) as [|k] eqn:Alone.
  - (* One works alone. *)
    exists (before + since), 0, u, t. assert (All := alone_means_all_wait u t served Two U C Alone).
    assert (Du := D u). assert (Do := D (other u)).
    split; auto; try lia; [apply advance_units, Two| |].
    + apply advance_left. clear. induction t; constructor; [exists []; reflexivity|assumption].
    + intros z Ez. assert (z = u :: rest) by congruence. subst z.
      destruct (left_of_one r t Left i _ E) as (x & Ex & done & ->). set (x := done ++ u :: rest) in *.
      specialize (Paid x Ex). set (c := other u) in *.
      assert (Each : Forall2 (fun x y => weight_of_changes x + on_unit c y <= on_unit c x + weight_of_changes y) r t).
      { clear - Left Two' All U. revert Two' All.
        induction Left as [|x y r t [done ->] F IH]; intros Two All; constructor.
        - inversion Two. inversion All. subst. rewrite on_unit_app.
          assert (G := gone_with_the_other c u ltac:(unfold c, other; lia) done y).
          enough (weight_of_changes (done ++ y) <= on_unit c done + weight_of_changes y) by lia. apply G; [|assumption].
          apply Forall_app in H1. apply either, H1. exact U.
        - inversion Two. inversion All. auto. }
      assert (Q := all_but_one _ _ _ _ r t Each i x _ Ex E). fold (all_on c r) in Q. fold (all_on c t) in Q.
      assert (Lost : on_unit c (u :: rest) + (if u =? a then 0 else 1) <= on_unit c x).
      { unfold x. rewrite on_unit_app. destruct (Nat.eqb_spec u a) as [->|Ne]; [lia|].
        rewrite Forall_forall in Wait. specialize (Wait _ (nth_error_In _ _ Ex)).
        destruct done as [|v done]; [destruct (Ne (Wait _ _ eq_refl))|].
        assert (V : v = a) by (apply (Wait v (done ++ u :: rest)), eq_refl).
        assert (c = v) by (unfold c, other; lia). unfold on_unit at 2. simpl. rewrite H, Nat.eqb_refl. simpl. lia. }
      destruct (Nat.eqb_spec u a) as [->|Ne].
      * fold c in Others. lia.
      * assert (c = a) by (unfold c, other; lia). rewrite H in *. lia.
  - (* Both work. *)
    assert (k = 0) by (specialize (Cap (other u)); lia). subst k.
    assert (W : forall v, v < 2 -> serves v t served = 1).
    { intros v V. destruct (Nat.eq_dec v u) as [->|]; [exact Mine|]. replace v with (other u) by (unfold other; lia).
      exact Alone. }
    exists before, (S since), a, r. assert (Da := D a). assert (Do := D (other a)).
    rewrite W in Da, Do, D0, D1 by (unfold other; lia).
    split; auto; try lia; [apply advance_units, Two|apply advance_left, Left].
Qed.

Lemma all_cycles string number n t i : Forall (fun u => u < 2) string ->
  cycles one_each (repeat string number) n t -> (exists u rest, nth_error t i = Some (u :: rest)) ->
  exists before since a r, history string number n t i before since a r.
Proof.
  intros Two H. remember (repeat string number) as s eqn:S. induction H as [s|s n t served H IH C]; intros E; subst s.
  - assert (Alls : Forall (Forall (fun u => u < 2)) (repeat string number)).
    { apply Forall_forall. intros w I. apply repeat_spec in I. subst w. exact Two. }
    set (a := match string with u :: _ => u | [] => 0 end).
    exists 0, 0, a, (repeat string number). split; auto; try lia.
    + unfold a. destruct Two; lia.
    + apply Forall_forall. intros w I u rest ->. apply repeat_spec in I. unfold a. rewrite <- I. reflexivity.
    + clear. induction (repeat string number); constructor; [exists []; reflexivity|assumption].
    + rewrite !all_on_repeat, <- (two_units string Two). lia.
    + intros z Ez. assert (I := nth_error_In _ _ Ez). apply repeat_spec in I. subst z.
      assert (Sum : sum (map weight_of_changes (repeat string number)) = number * weight_of_changes string).
      { clear. induction number as [|m IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. }
      destruct number; [destruct i; discriminate Ez|]. rewrite Sum. simpl. lia.
  - assert (E' : exists u rest, nth_error t i = Some (u :: rest)).
    { destruct E as (u & rest & E). destruct (nth_error t i) as [w|] eqn:Et.
      2: { apply nth_error_None in Et. rewrite <- (advance_length t served) in Et. apply nth_error_None in Et.
        congruence. }
      destruct w as [|v w]; [|eauto]. exfalso. destruct (nth_error served i) as [b|] eqn:Eb.
      - rewrite (advance_nth t served i [] b Et Eb) in E. destruct b; discriminate E.
      - apply nth_error_None in Eb. rewrite (cycle_warps _ _ _ C) in Eb.
        assert (i < length t) by (apply nth_error_Some; congruence). lia. }
    destruct (IH eq_refl E') as (before & since & a & r & Hi). apply (one_more_cycle _ _ _ _ _ _ _ _ _ _ Hi C E').
Qed.

(* After so many cycles as the bound says, every one of the W warps has finished, whatever the scheduler does. *)
Theorem warps_of_two_units_finish_within_their_bound : forall string number n t,
  Forall (fun u => u < 2) string -> cycles one_each (repeat string number) n t ->
  (length string - weight_of_changes string) * number + weight_of_changes string <= n ->
  forall w, In w t -> w = [].
Proof.
  intros string number n t Two H B w I. destruct w as [|u w]; [reflexivity|]. exfalso.
  apply In_nth_error in I. destruct I as [i E].
  destruct (all_cycles string number n t i Two H (ex_intro _ u (ex_intro _ w E))) as (before & since & a & r & Hi).
  destruct Hi as [Tt Tr A Wait Left Others With Sum Paid]. destruct (left_of_one r t Left i _ E) as (x & Ex & done & X).
  specialize (Paid x Ex). set (c := other a) in *.
  assert (Each : Forall2 (fun x y => weight_of_changes x + 0 <= on_unit c x + 0) r t).
  { assert (L := Left). clear - L Tr A. revert Tr.
    induction L as [|x y r t _ F IH]; intros Tr; constructor; inversion Tr; subst.
    - assert (G := gone_with_the_other c a ltac:(unfold c, other; lia) x [] (either a x A H1)).
      rewrite app_nil_r in G. specialize (G ltac:(discriminate)). unfold weight_of_changes at 2 in G. simpl in G.
      unfold of_changes in G. simpl in G. lia.
    - auto. }
  assert (Q := all_but_one _ (fun _ => 0) _ (fun _ => 0) r t Each i x _ Ex E). fold (all_on c r) in Q.
  assert (Le : on_unit c (u :: w) <= on_unit c x) by (rewrite X, on_unit_app; lia).
  assert (O := one_of_all a t i _ E). assert (O' := one_of_all c t i _ E).
  assert (Ones : 1 <= on_unit c (u :: w) + on_unit a (u :: w)).
  { rewrite Forall_forall in Tt. specialize (Tt _ (nth_error_In _ _ E)). inversion Tt; subst. unfold on_unit. simpl.
    unfold c, other. destruct (Nat.eqb_spec (1 - a) u), (Nat.eqb_spec a u); simpl; lia. }
  assert (Total : all_on 0 t + all_on 1 t = all_on c t + all_on a t).
  { unfold c, other. destruct a as [|[|a]]; simpl; lia. }
  assert (M := fewer_than_letters string).
  assert (Len : number <> 0).
  { intros ->. simpl in H. assert (L : length t = 0); [|destruct t; [destruct i; discriminate E|discriminate L]].
    remember [] as s eqn:S. clear - H S. induction H; subst; [reflexivity|]. rewrite advance_length. auto. }
  assert (Mul : (length string - weight_of_changes string) * number + number * weight_of_changes string =
    number * length string) by nia.
  destruct number as [|number]; [congruence|]. simpl in Paid. rewrite Nat.sub_0_r in Paid.
  assert (sum (map (fun _ : list nat => 0) t) = 0) by (apply sum_none; reflexivity). nia.
Qed.
