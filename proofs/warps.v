(* How long W warps of one kernel can take on one SM: the bound of docs/warps.md, section 4.1, for the makespan
  problem of
   Berezovskyi, Bletsas and Andersson (2012). *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists.

(* What each warp has still to do: the units of its instructions, in order. In a cycle some warps are served. *)
Definition warps := list (list nat).
Fixpoint advance (s : warps) (served : list bool) : warps :=
  match s, served with w :: s', b :: served' => (if b then tl w else w) :: advance s' served' | _, _ => s end.
Definition next_is (u : nat) (w : list nat) : bool := match w with v :: _ => v =? u | [] => false end.
(* How many warps unit [u] serves. *)
Fixpoint serves (u : nat) (s : warps) (served : list bool) : nat :=
  match s, served with
  | w :: s', b :: served' => (if (if b then next_is u w else false) then 1 else 0) + serves u s' served'
  | _, _ => 0
  end.

(* Unit [u] serves at most [sigma u] warps, none that has finished, and no fewer while a warp waits for it. *)
Record cycle (sigma : nat -> nat) (s : warps) (served : list bool) : Prop := {
  cycle_warps : length served = length s;
  cycle_unfinished : forall i, nth_error served i = Some true -> nth_error s i <> Some [];
  cycle_capacity : forall u, serves u s served <= sigma u;
  cycle_conserves : forall i u rest,
    nth_error s i = Some (u :: rest) -> nth_error served i = Some false -> sigma u <= serves u s served
}.
Inductive cycles (sigma : nat -> nat) : warps -> nat -> warps -> Prop :=
| No_cycle s : cycles sigma s 0 s
| One_more s n t served : cycles sigma s n t -> cycle sigma t served -> cycles sigma s (S n) (advance t served).

(* How many instructions are on unit [u]. *)
Definition on_unit (u : nat) (w : list nat) : nat := length (filter (Nat.eqb u) w).
Definition all_on (u : nat) (s : warps) : nat := sum (map (on_unit u) s).

Lemma served_are_done u s : forall served,
  length served = length s -> (forall i, nth_error served i = Some true -> nth_error s i <> Some []) ->
  all_on u (advance s served) + serves u s served = all_on u s.
Proof.
  induction s as [|w s IH]; intros [|b served] L N; try discriminate L; [reflexivity|].
  simpl in L. injection L as L. specialize (IH served L (fun i => N (S i))). unfold all_on in *. simpl.
  assert (H : on_unit u (if b then tl w else w) + (if (if b then next_is u w else false) then 1 else 0) = on_unit u w).
  { destruct b; [|lia]. destruct w as [|v w]; [destruct (N 0 eq_refl eq_refl)|]. unfold on_unit, next_is. simpl.
    rewrite (Nat.eqb_sym u v). destruct (v =? u); simpl; lia. }
  lia.
Qed.

Lemma advance_nth s : forall served i w b,
  nth_error s i = Some w -> nth_error served i = Some b ->
  nth_error (advance s served) i = Some (if b then tl w else w).
Proof.
  induction s as [|x s IH]; intros [|c served] [|i] w b E F; simpl in *; try discriminate.
  - injection E as ->. injection F as ->. reflexivity.
  - apply (IH served i w b E F).
Qed.
Lemma advance_length s : forall served, length (advance s served) = length s.
Proof. induction s as [|x s IH]; intros [|c served]; simpl; congruence. Qed.

Lemma serves_itself u s : forall served i w,
  nth_error s i = Some (u :: w) -> nth_error served i = Some true -> 1 <= serves u s served.
Proof.
  induction s as [|x s IH]; intros [|c served] [|i] w E F; simpl in *; try discriminate.
  - injection E as ->. injection F as ->. simpl. rewrite Nat.eqb_refl. lia.
  - specialize (IH served i w E F). lia.
Qed.

Lemma sum_one_more f u n : u < n ->
  sum (map (fun v => if v =? u then S (f v) else f v) (seq 0 n)) = S (sum (map f (seq 0 n))).
Proof.
  assert (H : forall k a, sum (map (fun v => if v =? u then S (f v) else f v) (seq a k))
    = (if andb (a <=? u) (u <? a + k) then 1 else 0) + sum (map f (seq a k))).
  { induction k as [|k IH]; intros a; cbn [seq map sum fold_right].
    - destruct (Nat.leb_spec a u), (Nat.ltb_spec u (a + 0)); cbn [andb]; lia.
    - change (fold_right Nat.add 0) with sum. rewrite IH.
      destruct (Nat.eqb_spec a u), (Nat.leb_spec a u), (Nat.leb_spec (S a) u), (Nat.ltb_spec u (a + S k)),
        (Nat.ltb_spec u (S a + k)); cbn [andb]; lia. }
  intros L. rewrite H. destruct (Nat.leb_spec 0 u), (Nat.ltb_spec u (0 + n)); cbn [andb]; lia.
Qed.

Lemma one_of_all u s : forall i w, nth_error s i = Some w -> on_unit u w <= all_on u s.
Proof.
  unfold all_on. induction s as [|x s IH]; intros [|i] w E; simpl in *; try discriminate E.
  - injection E as ->. lia.
  - specialize (IH i w E). lia.
Qed.

(* What an unfinished warp has done and waited for so far. *)
Lemma done_or_waited sigma units s n t : forall i w,
  cycles sigma s n t -> nth_error s i = Some w -> Forall (fun u => u < units) w ->
  forall w', nth_error t i = Some w' -> w' <> [] ->
  exists done waited,
    w = done ++ w' /\ n = length done + sum (map waited (seq 0 units)) /\
    forall u, sigma u * waited u + (all_on u t - on_unit u w') <= all_on u s - on_unit u w.
Proof.
  intros i w H. induction H as [s|s n t served H IH C]; intros E U w' E' N.
  - rewrite E in E'. injection E' as <-. exists [], (fun _ => 0). simpl. repeat split.
    + induction (seq 0 units); simpl; [reflexivity|]. exact IHl.
    + intros u. lia.
  - destruct (nth_error t i) as [x|] eqn:Et.
    2:{ exfalso. apply nth_error_None in Et. assert (L : i < length (advance t served)) by (apply nth_error_Some;
      congruence).
        rewrite advance_length in L. lia. }
    assert (Lb : exists b, nth_error served i = Some b).
    { destruct (nth_error served i) as [b|] eqn:Eb; [exists b; reflexivity|]. apply nth_error_None in Eb.
      rewrite (cycle_warps _ _ _ C) in Eb. assert (i < length t) by (apply nth_error_Some; congruence). lia. }
    destruct Lb as [b Eb]. rewrite (advance_nth t served i x b Et Eb) in E'. injection E' as <-.
    assert (Nx : x <> []) by (destruct b, x; simpl in N; congruence).
    destruct (IH E U x eq_refl Nx) as (done & waited & W & L & K).
    assert (D := fun u => served_are_done u t served (cycle_warps _ _ _ C) (cycle_unfinished _ _ _ C)).
    destruct x as [|u x]; [congruence|]. destruct b; simpl in N |- *.
    + exists (done ++ [u]), waited. rewrite app_length. simpl. repeat split.
      * rewrite <- app_assoc. exact W.
      * lia.
      * intros v. specialize (K v). specialize (D v). assert (O := one_of_all v t i _ Et).
        assert (O' := one_of_all v (advance t served) i _ (advance_nth t served i _ true Et Eb)). simpl in O'.
        unfold on_unit in *. simpl in *. destruct (Nat.eqb_spec v u) as [e|e]; [subst v|]; simpl in *; [|lia].
        assert (S := serves_itself u t served i x Et Eb). lia.
    + exists done, (fun v => if v =? u then S (waited v) else waited v). repeat split.
      * exact W.
      * assert (Lu : u < units). { rewrite W in U. apply Forall_app in U. destruct U as [_ U]. inversion U.
        assumption. }
        rewrite (sum_one_more waited u units Lu). lia.
      * intros v. specialize (K v). specialize (D v).
        assert (O' := one_of_all v (advance t served) i _ (advance_nth t served i _ false Et Eb)). simpl in O'.
        destruct (Nat.eqb_spec v u) as [e|e]; [subst v|lia].
        assert (S := cycle_conserves _ _ _ C i u x Et Eb). rewrite Nat.mul_succ_r. lia.
Qed.

Lemma all_on_repeat u w n : all_on u (repeat w n) = n * on_unit u w.
Proof. unfold all_on. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. reflexivity. Qed.

(* After so many cycles as the bound says, every one of the W warps has finished, whatever the scheduler does. *)
Theorem warps_finish_within_their_bound :
  forall sigma units string number n t,
  (forall u, 0 < sigma u) -> Forall (fun u => u < units) string ->
  cycles sigma (repeat string number) n t ->
  length string + sum (map (fun u => (number - 1) * on_unit u string / sigma u) (seq 0 units)) <= n ->
  forall w, In w t -> w = [].
Proof.
  intros sigma units string number n t P U H B w I. destruct w as [|u w]; [reflexivity|]. exfalso.
  apply In_nth_error in I. destruct I as [i E].
  assert (Len : length t = number).
  { clear - H. rewrite <- (repeat_length string number). induction H; [reflexivity|]. rewrite advance_length. exact
    IHcycles. }
  assert (L : i < number) by (rewrite <- Len; apply nth_error_Some; congruence).
  assert (Es : nth_error (repeat string number) i = Some string) by (apply nth_error_repeat; exact L).
  destruct (done_or_waited sigma units _ n t i string H Es U (u :: w) E ltac:(discriminate)) as (done & waited & W & N
    & K).
  assert (M : forall l, sum (map waited l) <= sum (map (fun v => (number - 1) * on_unit v string / sigma v) l)).
  { induction l as [|v l IH]; simpl; [lia|].
    assert (waited v <= (number - 1) * on_unit v string / sigma v); [|lia].
    apply Nat.div_le_lower_bound; [specialize (P v); lia|]. specialize (K v). rewrite all_on_repeat in K. nia. }
  specialize (M (seq 0 units)). assert (X := f_equal (@length nat) W). rewrite app_length in X. simpl in X. lia.
Qed.
