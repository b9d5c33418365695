(* Where releases are not given: how long there can be work, if it is known how much comes in a window. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial.

Section Busy.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.

(* What is launched from [x] on. *)
Definition since (x : nat) (l : list operation) : nat :=
  sum (map (fun o => if x <=? launched_at o then of_upper g top (full g top blocks) o else 0) l).
Lemma since_demand F x l k : (forall o, In o l -> launched_at o <= F) ->
  since x l <= demand g top blocks x F (l ++ k).
Proof.
  intros H. unfold since, demand. induction l as [|o l IH]; simpl; [lia|].
  specialize (IH (fun p I => H p (or_intror I))). assert (L := H o (or_introl eq_refl)).
  destruct (Nat.leb_spec x (launched_at o)), (Nat.leb_spec (launched_at o) F); simpl; lia.
Qed.
Lemma since_next x l o : x <= launched_at o -> since x (l ++ [o]) = since x l + of_upper g top (full g top blocks) o.
Proof.
  intros L. unfold since. rewrite map_app, sum_app. simpl. destruct (Nat.leb_spec x (launched_at o)); lia.
Qed.

(* If no more is launched in any window of length [w] than can be served in it, each operation is over within [w]. *)
Theorem over_within : forall w xs s, steps g (empty g) xs s -> (forall o, In o (launches xs) -> P o) ->
  (forall o, In o (launches xs) -> upper g top o = true ->
    demand g top blocks (launched_at o) (launched_at o + w) (launches xs) <= w) ->
  everywhere (fun o => upper g top o = true -> now s <= launched_at o + w) s.
Proof.
  intros w xs s H Ps Ds. assert (U := usage_empty g). assert (K := kept_empty g). assert (O := in_order_empty g).
  assert (A := everywhere_empty P g).
  set (busy := fun st before => only_lower g top st \/ exists D x, over_at g top blocks st D /\
    D <= x + since x before /\ now st <= x + w /\
    (exists o, In o before /\ upper g top o = true /\ launched_at o = x) /\
    everywhere (fun o => upper g top o = true -> x <= launched_at o) st).
  assert (V : busy (empty g) []) by (left; apply everywhere_empty).
  assert (E : launches xs = [] ++ launches xs) by reflexivity.
  assert (B : forall o, In o (@nil operation) -> launched_at o <= now (empty g)) by (intros o []).
  revert Ps Ds E V B. generalize (launches xs) at 1 2 3 4 as all. generalize (@nil operation) as before.
  revert U K O A. induction H as [s|s t u x xs St H IH]; intros U K O A before all Ps Ds E V B.
  - destruct V as [V|(D & x & _ & _ & L & _ & V)].
    + eapply everywhere_weaker; [|exact V]. simpl. congruence.
    + eapply everywhere_weaker; [|exact V]. simpl. intros o M Uo. specialize (M Uo). lia.
  - assert (P' : forall o, x = Launch o -> P o).
    { intros o ->. apply Ps. rewrite E. apply in_app_iff. right. left. reflexivity. }
    assert (A' := everywhere_step P g s x t A St P'). assert (K' := kept_step g s x t K St).
    assert (U' := usage_step g s x t U St). assert (O' := in_order_step g s x t O St).
    assert (N : now s <= now t) by (destruct St; simpl; lia).
    set (before' := match x with Launch o => before ++ [o] | _ => before end).
    assert (E' : all = before' ++ launches xs).
    { rewrite E. subst before'. destruct x; simpl; try reflexivity. rewrite <- app_assoc. reflexivity. }
    assert (Now : forall o, x = Launch o -> launched_at o = now s /\ now t = now s)
      by (intros o ->; inversion St; split; [assumption|reflexivity]).
    assert (B' : forall o, In o before' -> launched_at o <= now t).
    { intros o I. assert (Z : In o before \/ x = Launch o).
      { subst before'. destruct x; try (left; exact I). apply in_app_iff in I. destruct I as [I|[->|[]]]; tauto. }
      destruct Z as [Z|Z]; [specialize (B o Z)|destruct (Now o Z)]; lia. }
    apply (IH U' K' O' A' before' all Ps Ds E'); [|exact B'].
    destruct (match x with Launch o => upper g top o | _ => false end) eqn:Up.
    + (* an upper operation is launched *)
      destruct x as [o| | | | | | | |]; try discriminate Up. destruct (Now o eq_refl) as [No Nt].
      right. destruct V as [V|(D & y & V & L & W & F & M)].
      * exists (now s + full g top blocks o), (now s). split; [|split; [|split; [|split]]].
        { assert (Z := over_step g top blocks P C s _ t 0 U K O A St (or_introl V)). simpl in Z. rewrite Up in Z.
          exact Z. }
        { subst before'. rewrite since_next by lia. unfold of_upper. rewrite Up. lia. }
        { lia. }
        { exists o. subst before'. split; [apply in_app_iff; right; left; reflexivity|]. split; [exact Up|exact No]. }
        { eapply everywhere_step; [|exact St|]; [|intros p Z _; injection Z as <-; lia].
          eapply everywhere_weaker; [|exact V]. simpl. congruence. }
      * assert (Ly : y <= now s) by (destruct F as (p & I & _ & <-); apply (B p I)).
        assert (Q : only_lower g top s \/ now s <= D).
        { destruct V as [V|(X & e & Fn & Z)]; [left; exact V|right]. assert (Z' := fine_now _ _ _ _ _ Fn). lia. }
        assert (M' : everywhere (fun p => upper g top p = true -> y <= launched_at p) t).
        { eapply everywhere_step; [exact M|exact St|]. intros p Z _. injection Z as <-. lia. }
        assert (F' : exists p, In p before' /\ upper g top p = true /\ launched_at p = y).
        { destruct F as (p & I & F). exists p. subst before'. split; [apply in_app_iff; left; exact I|exact F]. }
        destruct Q as [Q|Q].
        { exists (now s + full g top blocks o), (now s). split; [|split; [|split; [|split]]].
          - assert (Z := over_step g top blocks P C s _ t 0 U K O A St (or_introl Q)). simpl in Z. rewrite Up in Z.
          exact Z.
          - subst before'. rewrite since_next by lia. unfold of_upper. rewrite Up. lia.
          - lia.
          - exists o. subst before'. split; [apply in_app_iff; right; left; reflexivity|]. split; [exact Up|exact No].
          - eapply everywhere_step; [|exact St|]; [|intros p Z _; injection Z as <-; lia].
            eapply everywhere_weaker; [|exact Q]. simpl. congruence. }
        { exists (Nat.max D (now s) + full g top blocks o), y. split; [|split; [|split; [|split]]]; try assumption.
          - assert (Z := over_step g top blocks P C s _ t D U K O A St V). simpl in Z. rewrite Up in Z. exact Z.
          - subst before'. rewrite since_next by lia. unfold of_upper. rewrite Up. lia.
          - lia. }
    + assert (Same : forall y, since y before <= since y before').
      { intros y. subst before'. destruct x; try apply le_n. unfold since. rewrite map_app, sum_app. lia. }
      assert (NoUp : forall o, x = Launch o -> upper g top o = false) by (intros o ->; exact Up).
      destruct V as [V|(D & y & V & L & W & F & M)].
      * left. eapply everywhere_step; [exact V|exact St|exact NoUp].
      * assert (V' : over_at g top blocks t D).
        { assert (Z := over_step g top blocks P C s x t D U K O A St V). destruct x; try exact Z.
          rewrite Up in Z. exact Z. }
        destruct V' as [V'|V']; [left; exact V'|right]. exists D, y. split; [right; exact V'|].
        split; [specialize (Same y); lia|]. split; [|split].
        { destruct V' as (X & e & Fn & Z). assert (Z' := fine_now _ _ _ _ _ Fn).
          destruct F as (p & I & Upp & Lp).
          assert (Ip : In p all) by (rewrite E; apply in_app_iff; left; exact I).
          specialize (Ds p Ip Upp). rewrite Lp, E in Ds.
          assert (Q := since_demand (y + w) y before (launches (x :: xs)) (fun o J => Nat.le_trans _ _ _ (B o J) W)).
          lia. }
        { destruct F as (p & I & F). exists p. split; [|exact F]. subst before'.
          destruct x; try exact I. apply in_app_iff. left. exact I. }
        { eapply everywhere_step; [exact M|exact St|]. intros o Z Uo. rewrite (NoUp o Z) in Uo. discriminate Uo. }
Qed.
End Busy.
