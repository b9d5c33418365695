(* Kernels launched at given instants: which of them waits for which, and when they have entered their EE queues. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial closed busy next.

(* An operation waits in its stream's queue, or has gone on and is not over. *)
Definition pending (s : state) (o : operation) : Prop :=
  exists k, nth_error (queues s) (stream o) = Some k /\ In o (waiting k).
(* It is in its EE queue: not all of its blocks are assigned. *)
Definition in_ee (s : state) (o : operation) : Prop := exists l k n, nth_error (ee s) l = Some k /\ In (o, n) k.

Lemma pending_head s o : at_head s o -> pending s o.
Proof. intros [rest F]. exists (Queue true (o :: rest)). split; [exact F|left; reflexivity]. Qed.

Section Entries.
Variables (g : device) (all : list operation).

(* One waits for another: an earlier one of its stream, or by N1 or N2. *)
Definition waits_for (o p : operation) : bool :=
  (number p <? number o) &&
  ((stream p =? stream o) || (stream o =? 0) && negb (stream p =? 0) && blocking_of g (stream p) ||
   negb (stream o =? 0) && blocking_of g (stream o) && (stream p =? 0)).

(* All are kernels, each with a number of its own. *)
Record kernels : Prop := {
  kernels_only : forall o, In o all -> exists n need lasts, what o = Kernel (S n) need lasts;
  kernels_apart : forall o p, In o all -> In p all -> number o = number p -> o = p
}.
Hypothesis K : kernels.
Let mine (o : operation) : Prop := In o all.

(* From [t] on, where [before] has been launched: nothing else is launched than these, no time passes over a launch,
  and
   all that is launched at an instant is before anything begins then. *)
Fixpoint on_time (t : nat) (before : list operation) (xs : list label) : Prop :=
  match xs with
  | [] => True
  | Launch o :: rest => In o all /\ on_time t (before ++ [o]) rest
  | DispatchTurn :: rest => (forall o, In o all -> launched_at o <= t -> In o before) /\ on_time t before rest
  | Until u :: rest => (forall o, In o all -> launched_at o < u -> In o before) /\ on_time u before rest
  | _ :: rest => on_time t before rest
  end.

Record inv (before : list operation) (s : state) : Prop := {
  inv_sound : sound g mine before s;
  inv_launched : forall o, In o before -> In o all /\ number o < launched s;
  inv_numbers : forall k, k < launched s -> exists o, In o before /\ number o = k;
  inv_turn : turn s = Dispatch -> forall o, In o all -> launched_at o <= now s -> In o before;
  inv_alive : forall r, In r (running s) -> now s <= ends r;
  (* What has gone on waits for nothing. *)
  inv_free : forall o p, at_head s o -> In p all -> waits_for o p = true -> ~ pending s p
}.

Lemma blocking_is q : blocking_of g q = true <-> is_blocking g q.
Proof.
  unfold blocking_of, is_blocking. destruct (nth_error (streams g) q) as [[l b]|]; simpl; split.
  - intros ->. exists l. reflexivity.
  - intros [m E]. injection E as _ ->. reflexivity.
  - discriminate.
  - intros [m E]. discriminate E.
Qed.

(* A kernel that is ready waits for nothing. *)
Lemma ready_is_free s o rest p : kept g s -> in_order g s -> ready g s (stream o) o rest -> waits_for o p = true ->
  ~ pending s p.
Proof.
  intros Kp O (F & N1 & N2 & _) W (k & G & I). unfold waits_for in W. apply andb_true_iff in W. destruct W as [L W].
  apply Nat.ltb_lt in L.
  assert (Head : forall q, stream p = q -> empty_or_later s o q -> False).
  { intros q <- E. destruct k as [b [|h k]]; [destruct I|]. assert (X := E h (ex_intro _ b (ex_intro _ k G))).
    destruct I as [<-|I]; [lia|]. assert (Y := proj1 (order_ascending g s O _ _ G) p I). lia. }
  rewrite !orb_true_iff, !andb_true_iff, !negb_true_iff, !Nat.eqb_eq, !Nat.eqb_neq in W.
  destruct W as [[W|[[Z W] B]]|[[Z B] W]].
  - rewrite W, F in G. injection G as <-. destruct I as [<-|I]; [lia|].
    assert (X := proj1 (order_ascending g s O _ _ F) p I). lia.
  - apply (Head (stream p) eq_refl), (N1 Z); [exact W|apply blocking_is, B].
  - apply (Head 0 W), (N2 Z), blocking_is, B.
Qed.

(* Where everything has gone on that may, what waits for nothing has. *)
Lemma free_has_gone_on s o : kept g s -> in_order g s -> everywhere mine s -> all_went_on g s -> In o all ->
  pending s o -> (forall p, In p all -> waits_for o p = true -> ~ pending s p) -> at_head s o.
Proof.
  intros Kp O E A Io (k & F & I) N. destruct k as [b [|h rest]]; [destruct I|].
  assert (Pend : forall q b' h' k', nth_error (queues s) q = Some (Queue b' (h' :: k')) ->
    In h' all /\ stream h' = q /\ pending s h').
  { intros q b' h' k' G. assert (S := queues.kept_queue Kp q _ h' G (or_introl eq_refl)). split; [|split; [exact S|]].
    - apply (everywhere_queues _ s E q _ h' G (or_introl eq_refl)).
    - exists (Queue b' (h' :: k')). rewrite S. split; [exact G|left; reflexivity]. }
  destruct I as [->|I].
  2:{ exfalso. destruct (Pend _ _ _ _ F) as (Ih & Sh & Ph). apply (N h Ih); [|exact Ph].
      assert (X := proj1 (order_ascending g s O _ _ F) o I). unfold waits_for. rewrite Sh, Nat.eqb_refl.
      rewrite (proj2 (Nat.ltb_lt _ _) X). reflexivity. }
  destruct b; [exists rest; exact F|]. exfalso. apply (A (stream o) o rest). split; [exact F|].
  assert (Other : forall q, q <> stream o -> (forall h, stream h = q -> number h < number o -> waits_for o h = true)
    ->
    empty_or_later s o q).
  { intros q Q W h (b & k & G). destruct (Pend _ _ _ _ G) as (Ih & Sh & Ph).
    destruct (Nat.lt_trichotomy (number o) (number h)) as [X|[X|X]]; [exact X|exfalso|exfalso].
    - apply Q. rewrite (kernels_apart K o h Io Ih X). symmetry. exact Sh.
    - apply (N h Ih (W h Sh X) Ph). }
  split; [|split].
  - intros Z q Q B. apply Other; [congruence|]. intros h <- L. unfold waits_for.
    rewrite (proj2 (Nat.ltb_lt _ _) L), Z, (proj2 (blocking_is _) B), (proj2 (Nat.eqb_neq _ _) Q). reflexivity.
  - intros Z B. apply Other; [congruence|]. intros h S L. unfold waits_for.
    rewrite (proj2 (Nat.ltb_lt _ _) L), S, (proj2 (blocking_is _) B), (proj2 (Nat.eqb_neq _ _) Z). simpl.
    apply orb_true_r.
  - intros r W. destruct (kernels_only K o Io) as (n & need & lasts & W'). congruence.
Qed.

(* Who waits, and who has gone on, after a step. *)
Lemma pending_after s x t p : in_order g s -> step g s x t -> pending t p -> pending s p \/ x = Launch p.
Proof.
  intros O H (k & F & I). destruct H; simpl in F; try (left; exists k; split; [exact F|exact I]);
    try match goal with R : first_ready _ _ _ _ _ |- _ => destruct R as [[F0 _] _] end;
    destruct (update_cases _ _ _ _ _ F) as [[Z ->]|[_ F']]; try (left; exists k; split; [exact F'|exact I]);
    simpl in I.
  - left. exists (Queue true (of r :: rest)). rewrite <- Z. split; [assumption|right; exact I].
  - apply in_app_iff in I. destruct I as [I|[<-|[]]]; [left|right; reflexivity].
    exists (Queue b before). rewrite <- Z. split; [assumption|exact I].
  - left. exists (Queue false (o :: rest)). rewrite <- Z. split; [assumption|exact I].
  - left. exists (Queue false (o :: rest)). rewrite <- Z. split; [assumption|exact I].
  - left. exists (Queue false (o :: rest)). rewrite <- Z. split; [assumption|right; exact I].
Qed.
Lemma head_after s x t p : in_order g s -> step g s x t -> at_head t p -> at_head s p \/ x = GoOn p.
Proof.
  intros O H [k F]. destruct H; simpl in F; try (left; exists k; exact F);
    destruct (update_cases _ _ _ _ _ F) as [[Z E]|[_ F']]; try (left; exists k; exact F'); try discriminate E.
  - injection E as <- E. assert (G := order_gone g s O _ _ H4 eq_refl). simpl in G.
    destruct before as [|h before]; [congruence|]. injection E as <- _. left. exists before. rewrite <- Z. exact H4.
  - injection E as <- _. right. reflexivity.
  - injection E as <- _. right. reflexivity.
Qed.

Lemma head_stays s x t o : in_order g s -> step g s x t -> at_head s o -> pending t o -> at_head t o.
Proof.
  intros O H [rest F] (k & G & I). destruct H; try (exists rest; exact F); simpl in G;
    try match goal with R : first_ready _ _ _ _ _ |- _ => destruct R as [[F0 _] _] end.
  - destruct (Nat.eq_dec (stream (of r)) (stream o)) as [Z|Z].
    + exfalso. rewrite <- Z in F, G. rewrite F in H5. injection H5 as E R. rewrite (update_same _ _ _ _ F) in G.
      injection G as <-. assert (Y := proj1 (order_ascending g s O _ _ F)).
      simpl in I. rewrite <- R in I. specialize (Y _ I). lia.
    + exists rest. simpl. rewrite update_other by exact Z. exact F.
  - destruct (Nat.eq_dec (stream o0) (stream o)) as [Z|Z].
    + rewrite <- Z in F. rewrite F in H4. injection H4 as <- <-. exists (rest ++ [o0]). simpl. rewrite <- Z.
      apply (update_same _ _ _ _ F).
    + exists rest. simpl. rewrite update_other by exact Z. exact F.
  - exists rest. simpl. rewrite update_other by congruence. exact F.
  - exists rest. simpl. rewrite update_other by congruence. exact F.
  - exists rest. simpl. rewrite update_other by congruence. exact F.
Qed.

Lemma inv_empty : inv [] (empty g).
Proof.
  split; simpl.
  - split; [apply usage_empty|apply kept_empty|apply in_order_empty|apply everywhere_empty|intros o []|].
    intros k o m Z. destruct k; discriminate Z.
  - intros o [].
  - intros k L. lia.
  - discriminate.
  - intros r [].
  - intros o p [rest F]. simpl in F. apply nth_error_In, repeat_spec in F. discriminate F.
Qed.

Lemma inv_step before s x t : inv before s -> step g s x t -> (forall o, In o (launch x) -> In o all) ->
  (x = DispatchTurn -> forall o, In o all -> launched_at o <= now s -> In o before) -> inv (before ++ launch x) t.
Proof.
  intros [S L N Tu A F] H M OnT. assert (O := sound_order _ _ _ _ S). assert (Kp := sound_kept _ _ _ _ S).
  assert (S' := sound_step g mine before s x t S H M). split; [exact S'| | | | |].
  - intros o I. apply in_app_iff in I. destruct I as [I|I].
    + destruct (L o I) as [B C]. split; [exact B|]. destruct H; simpl; lia.
    + split; [apply M, I|]. destruct (launched_now g s x t o H I) as (-> & _). inversion H; subst. simpl. lia.
  - intros k Lt. assert (C : k < launched s \/ exists o, x = Launch o /\ number o = k).
    { destruct H; simpl in Lt; try (left; exact Lt). destruct (Nat.eq_dec k (launched s)) as [->|D]; [right|left;
      lia].
      exists o. split; [reflexivity|assumption]. }
    destruct C as [C|(o & -> & E)].
    + destruct (N k C) as (o & I & E). exists o. split; [apply in_app_iff; left; exact I|exact E].
    + exists o. split; [apply in_app_iff; right; left; reflexivity|exact E].
  - intros Td o I Lo. apply in_app_iff. left.
    destruct H; simpl in *; try discriminate Td; try congruence; try (apply Tu; assumption). apply OnT; auto.
  - destruct H; simpl; try exact A; try (intros b I; apply A; rewrite H1; apply in_app_iff in I; apply in_app_iff;
      simpl; tauto); try (intros b I; apply in_app_iff in I; destruct I as [I|[<-|[]]]; [apply A, I|simpl; lia]).
    intros r I. auto.
  - intros o p Ho Ip W P. destruct (head_after s x t o O H Ho) as [Hs|Hs].
    + destruct (pending_after s x t p O H P) as [P'|E]; [apply (F o p Hs Ip W P')|]. subst x.
      inversion H; subst. unfold waits_for in W. apply andb_true_iff in W. destruct W as [W _]. apply Nat.ltb_lt in W.
      destruct Hs as [k Q]. assert (X := order_launched g s O _ _ o Q (or_introl eq_refl)). lia.
    + destruct (pending_after s x t p O H P) as [P'|E]; [|congruence]. subst x.
      assert (R : exists rest, ready g s (stream o) o rest) by (inversion H; subst; match goal with
        R : first_ready _ _ _ _ _ |- _ => destruct R as [R _]; eexists; exact R end).
      destruct R as [rest R]. apply (ready_is_free s o rest p Kp O R W P').
Qed.

(* What is in an EE queue is at the head of its stream's queue, of its level, and has launched with all it waits for.
*)
Lemma ee_facts before s l k o n : inv before s -> nth_error (ee s) l = Some k -> In (o, n) k ->
  at_head s o /\ level_of g 0 (stream o) = l /\ In o all /\ number o < launched s.
Proof.
  intros V E I. assert (S := inv_sound _ _ V). destruct (queues.kept_ee g s (sound_kept _ _ _ _ S) l k _ E I) as (A &
    (j & F & Z) & _).
  simpl in *. split; [exact A|]. split; [unfold level_of; rewrite F; exact Z|].
  split; [apply (everywhere_ee _ s (sound_all _ _ _ _ S) l k _ E I)|]. destruct A as [rest A].
  apply (order_launched g s (sound_order _ _ _ _ S) _ _ o A (or_introl eq_refl)).
Qed.
Lemma run_facts before s r : inv before s -> In r (running s) -> at_head s (of r) /\ In (of r) all /\ is_block r =
  true.
Proof.
  intros V I. assert (S := inv_sound _ _ V). assert (M := everywhere_running _ s (sound_all _ _ _ _ S) r I).
  split; [apply (kept_running (sound_kept _ _ _ _ S) r I)|]. split; [exact M|].
  unfold is_block. destruct (on r) as [i|e] eqn:O; [reflexivity|].
  destruct (kept_copy (sound_kept _ _ _ _ S) r e I O) as [la W].
  destruct (kernels_only K _ M) as (n & need & lb & W').
  congruence.
Qed.
Lemma in_ee_or_not before s x : inv before s -> In x all -> in_ee s x \/ ~ in_ee s x.
Proof.
  intros V I. destruct (existsb (existsb (fun y : operation * nat => number (fst y) =? number x)) (ee s)) eqn:B.
  - left. apply existsb_exists in B. destruct B as (k & J & B). apply existsb_exists in B.
    destruct B as ([y n] & Y & B). apply Nat.eqb_eq in B. apply In_nth_error in J. destruct J as [l J].
    destruct (ee_facts before s l k y n V J Y) as (_ & _ & Iy & _).
    rewrite (kernels_apart K x y I Iy (eq_sym B)). exists l, k, n. tauto.
  - right. intros (l & k & n & F & J).
    assert (T : existsb (existsb (fun y : operation * nat => number (fst y) =? number x)) (ee s) = true);
      [|congruence]. apply existsb_exists. exists k. split; [apply (nth_error_In _ _ F)|]. apply existsb_exists.
    exists (x, n). split; [exact J|apply Nat.eqb_refl].
Qed.
(* What has gone on, and has no block that is not assigned, runs. *)
Lemma gone_runs before s o : inv before s -> In o all -> at_head s o -> ~ in_ee s o ->
  exists r, In r (running s) /\ of r = o.
Proof.
  intros V I [rest F] N. assert (S := inv_sound _ _ V).
  destruct (order_somewhere g s (sound_order _ _ _ _ S) _ _ _ F) as
    [(r & J & M)|[(l & k & [p n] & F' & J & M)|(e & k & p & F' & J & _)]].
  - exists r. split; [exact J|]. destruct (run_facts _ _ _ V J) as (_ & Ir & _). apply (kernels_apart K); assumption.
  - exfalso. apply N. destruct (ee_facts _ _ _ _ _ _ V F' J) as (_ & _ & Ip & _). simpl in M.
    rewrite (kernels_apart K o p I Ip (eq_sym M)). exists l, k, n. tauto.
  - exfalso. destruct (kept_ce (sound_kept _ _ _ _ S) e k p F' J) as (_ & _ & la & W).
    assert (Ip := everywhere_ce _ s (sound_all _ _ _ _ S) e k p F' J).
    destruct (kernels_only K p Ip) as (a & b & c & W'). congruence.
Qed.
Lemma earlier_is_launched before s o : inv before s -> In o all -> number o < launched s -> In o before.
Proof.
  intros V I L. destruct (inv_numbers _ _ V _ L) as (p & J & E).
  rewrite (kernels_apart K o p I); [exact J| |congruence].
  apply (inv_launched _ _ V p J).
Qed.
End Entries.
