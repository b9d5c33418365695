(* What blocks take from their SMs, in every run. *)
From Coq Require Import List Arith Lia.
Import ListNotations.
From gpusched Require Import model lists.

Definition need_of (o : operation) : resources := match what o with Kernel _ need _ => need | _ => nothing end.
Definition on_sm (i : nat) (r : run) : bool := match on r with Sm j => i =? j | Engine _ => false end.
Definition is_block (r : run) : bool := match on r with Sm _ => true | Engine _ => false end.
(* What the blocks on SM [i] take of it. *)
Fixpoint used (i : nat) (l : list run) : resources :=
  match l with [] => nothing | r :: rest => if on_sm i r then plus (need_of (of r)) (used i rest) else used i rest end.

Record usage (g : device) (s : state) : Prop := {
  usage_sms : length (free s) = length (sms g);
  usage_free : forall i room cap,
    nth_error (free s) i = Some room -> nth_error (sms g) i = Some cap -> plus room (used i (running s)) = cap;
  usage_places : forall r i, In r (running s) -> on r = Sm i ->
    i < length (sms g) /\ exists blocks need lasts, what (of r) = Kernel blocks need lasts;
  usage_dispatch : turn s = Dispatch -> all_went_on g s
}.

Lemma used_app i l : forall k, used i (l ++ k) = plus (used i l) (used i k).
Proof.
  induction l as [|r l IH]; intros k; simpl.
  - apply resources_eq; reflexivity.
  - rewrite IH. destruct (on_sm i r); [|reflexivity]. apply resources_eq; simpl; lia.
Qed.

Lemma usage_empty g : usage g (empty g).
Proof.
  split; simpl.
  - reflexivity.
  - intros i room cap E F. rewrite E in F. injection F as ->. apply resources_eq; simpl; lia.
  - intros r i [].
  - discriminate.
Qed.

(* The end of [r] gives back what it took. *)
Lemma given_back_free g s before r after i room cap :
  usage g s -> running s = before ++ r :: after ->
  nth_error (given_back s r) i = Some room -> nth_error (sms g) i = Some cap ->
  plus room (used i (before ++ after)) = cap.
Proof.
  intros [L F P _] R E C. unfold given_back in E.
  assert (U : forall j room', nth_error (free s) j = Some room' -> forall cap', nth_error (sms g) j = Some cap' ->
    plus room' (plus (used j before) (used j (r :: after))) = cap').
  { intros j room' E' cap' C'. rewrite <- used_app, <- R. apply (F j room' cap' E' C'). }
  simpl in U. rewrite used_app. destruct (on r) as [j|e] eqn:O.
  - destruct (P r j) as [B (bl & n & la & W)]; [rewrite R; apply in_elt|exact O|].
    unfold on_sm, need_of in U. rewrite O, W in U. rewrite W in E.
    destruct (nth_error (free s) j) as [room0|] eqn:E0.
    + destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[N E']].
      * specialize (U j _ E0 cap C). rewrite Nat.eqb_refl in U. rewrite <- U. apply resources_eq; simpl; lia.
      * specialize (U i _ E' cap C). apply Nat.eqb_neq in N. rewrite Nat.eqb_sym in N. rewrite N in U. exact U.
    + apply nth_error_None in E0. lia.
  - unfold on_sm in U. rewrite O in U. apply (U i room E cap C).
Qed.

Lemma given_back_length s r : length (given_back s r) = length (free s).
Proof.
  unfold given_back. destruct (on r), (what (of r)); try reflexivity.
  destruct (nth_error (free s) i); [apply update_length|reflexivity].
Qed.

Theorem usage_step g s x t : usage g s -> step g s x t -> usage g t.
Proof.
  intros I H. assert (I' := I). destruct I as [L F P D].
  destruct H; split; simpl in *; try assumption; try exact D; try (intros T; congruence); try (intros _; assumption);
    try (rewrite given_back_length; assumption);
    try (intros i room cap E C; eapply given_back_free; eassumption);
    try (intros b i E; apply P; rewrite H1; apply in_app_iff in E; apply in_app_iff; simpl; tauto).
  - (* GoOn happens before dispatch *)
    intros T. destruct (D T _ _ _ (proj1 H)).
  - intros T. destruct (D T _ _ _ (proj1 H)).
  - intros T. destruct (D T _ _ _ (proj1 H)).
  - (* a copy takes nothing of an SM *)
    intros i room cap E C. rewrite used_app. simpl. rewrite <- (F i room cap E C). apply resources_eq; simpl; lia.
  - intros b i E O. apply in_app_iff in E. destruct E as [E|[<-|[]]]; [apply (P b i E O)|discriminate O].
  - rewrite update_length. exact L.
  - (* a block takes what it needs *)
    intros j room' cap E C. rewrite used_app. simpl. unfold on_sm. simpl. unfold need_of. rewrite H2.
    destruct H4 as [R [[A B] [S T]]]. unfold R3, Registers in *.
    destruct (update_cases _ _ _ _ _ E) as [[<- ->]|[N E']].
    + rewrite Nat.eqb_refl. rewrite <- (F i room cap R C). apply resources_eq; simpl; lia.
    + rewrite (proj2 (Nat.eqb_neq j i)) by congruence. rewrite <- (F j room' cap E' C). apply resources_eq; simpl; lia.
  - intros b j E O. apply in_app_iff in E. destruct E as [E|[<-|[]]]; [apply (P b j E O)|]. simpl in O. injection O as
    <-.
    split; [|exists blocks, need, lasts; exact H2].
    rewrite <- L. apply nth_error_Some. destruct H4 as [R _]. congruence.
Qed.

(* What holds of every operation that was launched and is not over. *)
Record everywhere (P : operation -> Prop) (s : state) : Prop := {
  everywhere_queues : forall q k o, nth_error (queues s) q = Some k -> In o (waiting k) -> P o;
  everywhere_ee : forall l k x, nth_error (ee s) l = Some k -> In x k -> P (fst x);
  everywhere_ce : forall e k o, nth_error (ce s) e = Some k -> In o k -> P o;
  everywhere_running : forall r, In r (running s) -> P (of r)
}.

Lemma everywhere_empty P g : everywhere P (empty g).
Proof.
  split; simpl.
  - intros q k o F I. apply nth_error_In, repeat_spec in F. subst k. destruct I.
  - intros l k x F I. apply nth_error_In, repeat_spec in F. subst k. destruct I.
  - intros e k o F I. apply nth_error_In, repeat_spec in F. subst k. destruct I.
  - intros r [].
Qed.

Lemma everywhere_weaker (P Q : operation -> Prop) s :
  (forall o, P o -> Q o) -> everywhere P s -> everywhere Q s.
Proof. intros W [A B C D]. split; eauto. Qed.

Lemma everywhere_step P g s x t :
  everywhere P s -> step g s x t -> (forall o, x = Launch o -> P o) -> everywhere P t.
Proof.
  intros [Q E C R] H A.
  assert (Q' : forall q b l, nth_error (queues s) q = Some (Queue b l) -> forall o, In o l -> P o).
  { intros q b l F o I. apply (Q q _ o F I). }
  destruct H; split; simpl; try assumption;
    try (intros b I; apply R; rewrite H1; apply in_app_iff in I; apply in_app_iff; simpl; tauto);
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[H _] _] end.
  - intros q k o F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (Q q k o F' I)].
    apply (Q' _ _ _ H5). right. exact I.
  - intros q k o' F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (Q q k o' F' I)].
    simpl in I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (Q' _ _ _ H4 _ I)|apply A; reflexivity].
  - intros q' k o' F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (Q q' k o' F' I)].
    apply (Q' _ _ _ H _ I).
  - intros l' k y F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (E l' k y F' I)].
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (E _ _ _ H2 I)|]. apply (Q' _ _ _ H). left. reflexivity.
  - intros q' k o' F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (Q q' k o' F' I)].
    apply (Q' _ _ _ H _ I).
  - intros e' k o' F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (C e' k o' F' I)].
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (C _ _ _ H1 I)|]. apply (Q' _ _ _ H). left. reflexivity.
  - intros q' k o' F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (Q q' k o' F' I)].
    apply (Q' _ _ _ H). right. exact I.
  - intros e' k o' F I. destruct H0 as [H0 _].
    destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (C e' k o' F' I)].
    apply (C _ _ _ H0). right. exact I.
  - intros r I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (R r I)|].
    destruct H0 as [H0 _]. apply (C _ _ _ H0). left. reflexivity.
  - intros l' k y F I. destruct H1 as [H1 _].
    destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (E l' k y F' I)].
    unfold G3 in I. destruct n as [|n]; [apply (E _ _ _ H1); right; exact I|].
    destruct I as [<-|I]; [|apply (E _ _ _ H1); right; exact I].
    apply (E _ _ (o, S (S n)) H1). left. reflexivity.
  - intros r I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (R r I)|].
    destruct H1 as [H1 _]. apply (E _ _ (o, S n) H1). left. reflexivity.
Qed.

(* Where no stream has a mask. *)
Lemma unmasked g o i : masks g = [] -> may_use g o i.
Proof. intros E I. unfold may_use in *. rewrite E in I. destruct (stream o); destruct I. Qed.
