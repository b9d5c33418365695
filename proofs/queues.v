(* Where the operations of a run are, in every run: what has gone on is at the head of its stream's queue,
  and ends in time. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage.

Definition worst_of (o : operation) : nat :=
  match what o with Kernel _ _ lasts | Copy _ lasts => worst lasts | _ => 0 end.

(* An operation is at the head of its stream's queue, and has gone on. *)
Definition at_head (s : state) (o : operation) : Prop :=
  exists rest, nth_error (queues s) (stream o) = Some (Queue true (o :: rest)).

Section Kept.
Variable g : device.

Record kept (s : state) : Prop := {
  kept_queue : forall q k o, nth_error (queues s) q = Some k -> In o (waiting k) -> stream o = q;
  kept_running : forall r, In r (running s) -> at_head s (of r);
  kept_ee : forall l k x, nth_error (ee s) l = Some k -> In x k ->
    at_head s (fst x) /\ (exists k, nth_error (streams g) (stream (fst x)) = Some k /\ level k = l) /\
    exists n need lasts, what (fst x) = Kernel n need lasts;
  kept_ce : forall e k o, nth_error (ce s) e = Some k -> In o k -> at_head s o /\ (forall r,
    In r (running s) -> of r <> o) /\ exists lasts, what o = Copy e lasts;
  kept_once : forall e k, nth_error (ce s) e = Some k -> NoDup k;
  kept_copy : forall r e, In r (running s) -> on r = Engine e -> exists lasts, what (of r) = Copy e lasts;
  kept_short : forall r, In r (running s) -> ends r <= now s + worst_of (of r)
}.

Lemma kept_empty : kept (empty g).
Proof.
  split; simpl.
  - intros q k o F I. apply nth_error_In, repeat_spec in F. subst k. destruct I.
  - intros r [].
  - intros l k x F I. apply nth_error_In, repeat_spec in F. subst k. destruct I.
  - intros e k o F I. apply nth_error_In, repeat_spec in F. subst k. destruct I.
  - intros e k F. apply nth_error_In, repeat_spec in F. subst k. constructor.
  - intros r e [].
  - intros r [].
Qed.

Lemma kept_step s x t : kept s -> step g s x t -> kept t.
Proof.
  intros [Q R E CE O K S] H. inversion H; subst; clear H;
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end.
  - (* the last block ended *)
    rename H2 into Rs, H5 into Ov, H6 into Qr.
    assert (Still : forall p, at_head s p -> p <> of r ->
      exists rest', nth_error (update (stream (of r)) (Queue false rest) (queues s)) (stream p) = Some (Queue true (p ::
        rest'))).
    { intros p [rest' F] N. exists rest'. rewrite update_other; [exact F|]. intros Z. rewrite <- Z, Qr in F.
      congruence. }
    assert (Sub : forall b, In b (before ++ after) -> In b (running s)).
    { intros b I. rewrite Rs. apply in_app_iff in I. apply in_app_iff. simpl. tauto. }
    assert (Ir : In r (running s)) by (rewrite Rs; apply in_elt).
    split; simpl; try assumption; try (intros; eauto; fail).
    + intros q k o F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply Q; eassumption].
      apply (Q _ _ _ Qr). right. exact I.
    + intros b I. apply Still; [apply R, Sub, I|]. intros Z. apply (proj1 Ov b I). congruence.
    + intros l k y F I. destruct (E l k y F I) as (A & B). split; [|exact B].
      apply Still; [exact A|]. intros Z. apply (proj2 Ov l k y F I). congruence.
    + intros e k o F I. destruct (CE e k o F I) as (A & B & D). split; [|split; [intros b J; apply B, Sub, J|exact D]].
      apply Still; [exact A|]. intros Z. apply (B r Ir). congruence.
  - assert (Sub : forall b, In b (before ++ after) -> In b (running s)).
    { intros b I. rewrite H2. apply in_app_iff in I. apply in_app_iff. simpl. tauto. }
    split; simpl; try assumption; try (intros; eauto; fail).
    intros e k o F I. destruct (CE e k o F I) as (A & B & D). split; [exact A|split; [intros b J; apply B, Sub,
      J|exact D]].
  - split; simpl; assumption.
  - (* a launch *)
    assert (Still : forall p, at_head s p -> exists rest',
      nth_error (update (stream o) (Queue b (before ++ [o])) (queues s))
      (stream p) = Some (Queue true (p :: rest'))).
    { intros p [rest' F]. destruct (Nat.eq_dec (stream o) (stream p)) as [Z|Z].
      - rewrite <- Z, H5 in F. injection F as -> ->. exists (rest' ++ [o]). rewrite <- Z.
        apply (update_same _ _ _ _ H5).
      - exists rest'. rewrite update_other by exact Z. exact F. }
    split; simpl; try assumption.
    + intros q k p F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply Q; eassumption].
      simpl in I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [|reflexivity]. apply (Q _ _ _ H5 I).
    + intros r I. apply Still, R, I.
    + intros l k y F I. destruct (E l k y F I) as (A & B). split; [apply Still, A|exact B].
    + intros e k p F I. destruct (CE e k p F I) as (A & B). split; [apply Still, A|exact B].
  - split; simpl; assumption.
  - (* a kernel goes on *)
    assert (Still : forall p, at_head s p -> p <> o /\ exists rest',
      nth_error (update (stream o) (Queue true (o :: rest))
      (queues s)) (stream p) = Some (Queue true (p :: rest'))).
    { intros p [rest' F]. assert (Z : stream o <> stream p) by congruence. split; [congruence|]. exists rest'.
      rewrite update_other by exact Z. exact F. }
    split; simpl; try assumption.
    + intros q k p F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply Q; eassumption].
      apply (Q _ _ _ F0 I).
    + intros r I. apply Still, R, I.
    + intros l' k y F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']].
      * apply in_app_iff in I. destruct I as [I|[<-|[]]].
        { destruct (E _ _ _ H3 I) as (A & B). split; [apply Still, A|exact B]. }
        simpl. split; [|split; [|exists n, need, lasts; assumption]].
        { exists rest. apply (update_same _ _ _ _ F0). }
        { exists (Stream l b). split; [assumption|reflexivity]. }
      * destruct (E _ _ _ F' I) as (A & B). split; [apply Still, A|exact B].
    + intros e k p F I. destruct (CE e k p F I) as (A & B). split; [apply Still, A|exact B].
  - (* a copy goes on *)
    assert (Still : forall p, at_head s p -> p <> o /\ exists rest',
      nth_error (update (stream o) (Queue true (o :: rest))
      (queues s)) (stream p) = Some (Queue true (p :: rest'))).
    { intros p [rest' F]. assert (Z : stream o <> stream p) by congruence. split; [congruence|]. exists rest'.
      rewrite update_other by exact Z. exact F. }
    split; simpl; try assumption.
    + intros q k p F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply Q; eassumption].
      apply (Q _ _ _ F0 I).
    + intros r I. apply Still, R, I.
    + intros l k y F I. destruct (E l k y F I) as (A & B). split; [apply Still, A|exact B].
    + intros e' k p F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']].
      * apply in_app_iff in I. destruct I as [I|[<-|[]]].
        { destruct (CE _ _ _ H2 I) as (A & B). split; [apply Still, A|exact B]. }
        split; [|split; [|exists lasts; assumption]].
        { exists rest. apply (update_same _ _ _ _ F0). }
        { intros r J Z. apply (proj1 (Still (of r) (R r J)) Z). }
      * destruct (CE _ _ _ F' I) as (A & B). split; [apply Still, A|exact B].
    + intros e' k F. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply O; eassumption].
      apply NoDup_app_one; [apply (O _ _ H2)|]. intros I. destruct (CE _ _ _ H2 I) as (A & _).
      apply (proj1 (Still o A) eq_refl).
  - (* a memset, record or wait ends *)
    assert (Still : forall p, at_head s p -> exists rest', nth_error (update (stream o) (Queue false rest)
      (queues s)) (stream p) = Some (Queue true (p :: rest'))).
    { intros p [rest' F]. assert (Z : stream o <> stream p) by congruence. exists rest'.
      rewrite update_other by exact Z. exact F. }
    split; simpl; try assumption.
    + intros q k p F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply Q; eassumption].
      apply (Q _ _ _ F0). right. exact I.
    + intros r I. apply Still, R, I.
    + intros l k y F I. destruct (E l k y F I) as (A & B). split; [apply Still, A|exact B].
    + intros e k p F I. destruct (CE e k p F I) as (A & B). split; [apply Still, A|exact B].
  - (* a copy begins *)
    destruct H1 as [Q1 _]. destruct (CE _ _ _ Q1 (or_introl eq_refl)) as (A & B & _).
    assert (D := O _ _ Q1). inversion D as [|? ? Out D']; subst.
    split; simpl; try assumption.
    + intros r I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply R, I|exact A].
    + intros e' k p F I.
      assert (F1 : exists k', nth_error (ce s) e' = Some k' /\ In p k' /\ p <> o).
      { destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[N F']].
        - exists (o :: rest). split; [exact Q1|]. split; [right; exact I|]. intros ->. exact (Out I).
        - exists k. split; [exact F'|]. split; [exact I|]. intros ->. destruct (CE _ _ _ F' I) as (_ & _ & la & W).
          congruence. }
      destruct F1 as (k' & F1 & I' & N). destruct (CE _ _ _ F1 I') as (A' & B' & L'). split; [exact A'|].
      split; [|exact L']. intros r J. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply B', J|]. simpl.
        congruence.
    + intros e' k F. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [exact D'|eapply O; eassumption].
    + intros r e' I F. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [eapply K; eassumption|].
      simpl in F |- *. injection F as <-. exists lasts. assumption.
    + intros r I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply S, I|]. simpl. unfold worst_of.
      match goal with W : what o = _ |- _ => rewrite W end. match goal with W : within _ _ |- _ => destruct W end. lia.
  - (* a block is assigned *)
    destruct H2 as [Q1 _]. destruct (E _ _ _ Q1 (or_introl eq_refl)) as (A & B). simpl in A, B.
    split; simpl; try assumption.
    + intros r I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply R, I|exact A].
    + intros l' k y F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|eapply E; eassumption].
      unfold G3 in I. destruct n; [eapply E; [exact Q1|right; exact I]|].
      destruct I as [<-|I]; [split; [exact A|exact B]|eapply E; [exact Q1|right; exact I]].
    + intros e k p F I. destruct (CE _ _ _ F I) as (A' & B' & la & W). split; [exact A'|]. split; [|exists la; exact W].
      intros r J. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply B', J|]. simpl. congruence.
    + intros r e I F. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [eapply K; eassumption|]. discriminate F.
    + intros r I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply S, I|]. simpl. unfold worst_of.
      match goal with W : what o = _ |- _ => rewrite W end. match goal with W : within _ _ |- _ => destruct W end. lia.
  - split; simpl; assumption.
  - (* time passes *)
    split; simpl; try assumption. intros r I. specialize (S r I).
    match goal with L : now s < _ |- _ => revert L end. lia.
Qed.
End Kept.

Arguments kept_queue {g s}.
Arguments kept_running {g s}.
Arguments kept_ce {g s}.
Arguments kept_once {g s}.
Arguments kept_copy {g s}.
Arguments kept_short {g s}.
