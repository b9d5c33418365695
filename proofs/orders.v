(* The bounds of an exploration of all orders in which kernels can be dispatched hold in every run: docs/analysis.md,
   section 4. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial closed busy next entries explored undispatched
  dispatched.

Section Orders.
Variables (g : device) (all : list operation).
Hypothesis K : kernels all.
Variables explored given_up : abstract -> Prop.
Hypothesis E : exploration g all explored given_up.
Local Notation level_of o := (level_of g 0 (stream o)).
Local Notation waits_for := (waits_for g).
Local Notation inv := (inv g all).
Local Notation holds := (holds g all).
Local Notation eligible := (eligible g all).
Local Notation possible := (possible g all).
Local Notation done_runs := (done_runs g all K).
Local Notation head_by_start := (head_by_start g all explored given_up E).
Local Notation has_entered := (has_entered g all explored given_up E).

(* What was dispatched when the exploration was given up has its bounds. *)
Definition settled (A : abstract) (s : state) : Prop := forall o, In o all -> In (number o) (done A) ->
  number o < launched s /\ ~ in_ee s o /\ (pending s o -> at_head s o) /\
  forall r, In r (running s) -> of r = o -> ends r <= over_by A (number o).
Lemma holds_settled A before s : holds A before s -> settled A s.
Proof.
  intros H o I D. destruct (holds_done H o I D) as (L & N & P). split; [exact L|]. split; [exact N|].
  split; [exact P|]. intros r J <-. apply (holds_over_by H r J D).
Qed.
Lemma settled_step A before s x t : inv before s -> settled A s -> step g s x t -> settled A t.
Proof.
  intros V H St o I D. destruct (H o I D) as (L & N & P & R). assert (S := inv_sound _ _ _ _ V).
  assert (O := sound_order _ _ _ _ S). split; [destruct St; simpl; lia|]. split; [|split].
  - intros (l & k & n & F & J). destruct St; simpl in F; try (apply N; exists l, k, n; tauto);
      destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; try (apply N; exists l, k, n; tauto).
    + apply in_app_iff in J. destruct J as [J|[J|[]]]; [apply N; exists l0, before0, n; tauto|]. injection J as <- _.
      destruct H0 as [[F0 _] _]. destruct P as [r F1]; [|congruence].
      exists (Queue false (o0 :: rest)). split; [exact F0|left; reflexivity].
    + destruct H2 as [Q _]. apply N. destruct n0 as [|n0]; simpl in J.
      * exists l0, ((o0, 1) :: rest), n. split; [exact Q|right; exact J].
      * destruct J as [J|J]; [injection J as <- _; exists l0, ((o0, Datatypes.S (Datatypes.S n0)) :: rest),
          (Datatypes.S (Datatypes.S n0)); split; [exact Q|left; reflexivity]|].
        exists l0, ((o0, Datatypes.S (Datatypes.S n0)) :: rest), n. split; [exact Q|right; exact J].
  - intros Pt. destruct (pending_after g s x t o O St Pt) as [Ps| ->].
    + apply (head_stays g s x t o O St (P Ps) Pt).
    + inversion St; subst. lia.
  - intros r J Z. destruct St; simpl in J; try (apply R; assumption);
      try (apply R; [|exact Z]; rewrite H2; apply in_app_iff in J; apply in_app_iff; simpl; tauto);
      apply in_app_iff in J; destruct J as [J|[<-|[]]]; try (apply R; assumption); exfalso; simpl in Z; subst.
    + destruct H1 as [F _]. destruct (kernels_only all K o I) as (a & b & c & W). congruence.
    + destruct H2 as [F _]. apply N. exists l, ((o, Datatypes.S n) :: rest), (Datatypes.S n).
      split; [exact F|left; reflexivity].
Qed.

(* In every run there is, at each instant, a state of the exploration that holds. *)
Lemma holds_step A before s x t : explored A -> inv before s -> holds A before s -> step g s x t ->
  (forall o, In o (launch x) -> In o all) ->
  (forall u, x = Until u -> forall o, In o all -> launched_at o < u -> In o before) ->
  (x = DispatchTurn -> forall o, In o all -> launched_at o <= now s -> In o before) ->
  given_up A \/ exists B, explored B /\ holds B (before ++ launch x) t.
Proof.
  intros X V H St M T Td. assert (V' := inv_step g all before s x t V St M Td). assert (S := inv_sound _ _ _ _ V).
  assert (O := sound_order _ _ _ _ S). destruct x as [o|o|o d|o i d|o p| | | |u]; simpl in *;
    rewrite ?app_nil_r in *.
  - right. exists A. split; [exact X|]. apply (holds_launch g all K A before s V H o t St (M o (or_introl eq_refl))
    V').
  - right. exists A. split; [exact X|]. apply (holds_go_on g all K explored given_up E A before s X V H o t St).
  - exfalso. inversion St; subst. match goal with Y : may_begin _ _ _ _ |- _ => destruct Y as [F _] end.
    destruct (kernels_only all K o (everywhere_ce _ s (sound_all _ _ _ _ S) _ _ o F (or_introl eq_refl))) as (a & b &
      c & W).
    congruence.
  - inversion St; subst. destruct n as [|n].
    + eapply (holds_last g all K explored given_up E A before s X V H); try eassumption. reflexivity.
    + right. exists A. split; [exact X|]. eapply (holds_block g all K explored given_up E A before s X V H);
      try eassumption. lia.
  - right. exists A. split; [exact X|]. inversion St; subst.
    + match goal with R : running s = _ |- _ => rename R into Rs end.
      match goal with Q : nth_error (queues s) _ = _ |- _ => rename Q into Qr end.
      match goal with Y : over _ _ _ |- _ => rename Y into Ov end.
      match goal with Y : ends r = now s |- _ => rename Y into Er end.
      assert (Ir : In r (running s)) by (rewrite Rs; apply in_elt).
      destruct (run_facts g all K _ _ r V Ir) as (Hr & Mr & _).
      assert (Br : In (of r) before).
      { apply (earlier_is_launched g all K _ _ _ V Mr). apply (order_launched g s O _ _ (of r) Qr). left.
        reflexivity. }
      assert (Dr : In (number (of r)) (done A)).
      { destruct (in_dec Nat.eq_dec (number (of r)) (done A)) as [D|D]; [exact D|]. exfalso.
        destruct (proj2 (holds_open H (of r) Br D) Hr) as (l & k & n & F & I).
        apply (proj2 Ov l k _ F I). reflexivity. }
      assert (Gone : forall q, In q all -> number q = number (of r) -> q = of r)
        by (intros q Iq Z; apply (kernels_apart all K q (of r) Iq Mr Z)).
      eapply (holds_end g all A before s _ before0 r after H Rs); try reflexivity; try exact Er.
      * intros q Iq P. destruct (pending_after g s _ _ q O St P) as [P'|Z]; [exact P'|discriminate Z].
      * intros q Iq P Hq. apply (head_stays g s _ _ q O St Hq P).
      * intros q Hq. destruct (head_after g s _ _ q O St Hq) as [Hq'|Z]; [exact Hq'|discriminate Z].
      * intros q Iq Dq (k & F & I). assert (Nq : q <> of r) by congruence.
        destruct (Nat.eq_dec (stream (of r)) (stream q)) as [Z|Z].
        { exists (Queue false rest). simpl. rewrite <- Z in *. rewrite Qr in F. injection F as <-.
          rewrite (update_same _ _ _ _ Qr). split; [reflexivity|]. destruct I as [I|I]; [congruence|exact I]. }
        { exists k. simpl. rewrite update_other by exact Z. tauto. }
    + eapply (holds_end g all A before s _ before0 r after H); try eassumption; try reflexivity; tauto.
  - right. exists A. split; [exact X|]. inversion St; subst. what_holds H. split; assumption.
  - right. exists A. split; [exact X|]. inversion St; subst. what_holds H. split; assumption.
  - right. exists A. split; [exact X|]. inversion St; subst. what_holds H. split; assumption.
  - right. exists A. split; [exact X|]. apply (holds_time g all K explored given_up E A before s X V H u t St).
    apply (T u eq_refl).
Qed.

Lemma holds_empty A : done A = [] -> from A = 0 -> holds A [] (empty g).
Proof.
  intros D F. assert (Ee : forall l k, nth_error (ee (empty g)) l = Some k -> k = []).
  { intros l k G. apply nth_error_In, repeat_spec in G. exact G. }
  split; simpl; try rewrite D; try (intros; contradiction).
  - lia.
  - intros x (_ & _) L. lia.
  - intros l k a i b x c G Z. rewrite (Ee l k G) in Z. destruct a; discriminate Z.
  - intros x _ _ _. split; [intros p _ []|]. split; [intros []|]. left. reflexivity.
  - intros l k o n G I. rewrite (Ee l k G) in I. destruct I.
  - intros l k G. rewrite (Ee l k G). constructor.
  - intros l k o n G I. rewrite (Ee l k G) in I. destruct I.
  - intros l y k o n G. discriminate (Ee l _ G).
  - intros l o n rest [G _]. discriminate (Ee l _ G).
Qed.

(* At each instant of a run a state of the exploration holds, or one did from which it was given up. *)
Theorem every_run_is_explored xs s : steps g (empty g) xs s -> on_time all 0 [] xs ->
  inv (launches xs) s /\ exists A, explored A /\ (holds A (launches xs) s \/ given_up A /\ settled A s).
Proof.
  intros H. destruct (explored_start E) as (A & X & D & F). assert (V := inv_empty g all).
  assert (Z : exists A, explored A /\ (holds A [] (empty g) \/ given_up A /\ settled A (empty g)))
    by (exists A; split; [exact X|left; apply (holds_empty A D F)]). clear A X D F.
  change (launches xs) with ([] ++ launches xs). change 0 with (now (empty g)). revert V Z.
  generalize (@nil operation).
  induction H as [s|s t u x xs St H IH]; intros before V Z T; [rewrite app_nil_r; tauto|].
  change (launches (x :: xs)) with (launch x ++ launches xs). rewrite app_assoc. destruct Z as (A & X & Z).
  assert (M : forall o, In o (launch x) -> In o all)
    by (destruct x; intros q I; try contradiction; destruct I as [<-|[]]; apply T).
  apply IH.
  - apply (inv_step g all before s x t V St M). intros ->. apply T.
  - assert (G : given_up A -> settled A s ->
      exists A, explored A /\ (holds A (before ++ launch x) t \/ given_up A /\ settled A t)).
    { intros G Q. exists A. split; [exact X|right]. split; [exact G|apply (settled_step A before s x t V Q St)]. }
    destruct Z as [Z|[Z Q]]; [|apply G; assumption].
    destruct (holds_step A before s x t X V Z St M) as [Y|(B & XB & Y)]; try (intros; subst; apply T; assumption).
    + apply (G Y (holds_settled A before s Z)).
    + exists B. split; [exact XB|left; exact Y].
  - destruct x; inversion St; subst; simpl in *; rewrite ?app_nil_r; tauto.
Qed.

(* Of kernels that are not dispatched one is eligible. *)
Lemma some_eligible A o : In o all -> ~ In (number o) (done A) -> exists y, eligible A y.
Proof.
  remember (number o) as m eqn:M. revert o M. induction m as [m IH] using (well_founded_induction lt_wf).
  intros o -> Io N. destruct (existsb (fun p => waits_for o p && negb (existsb (Nat.eqb (number p)) (done A))) all)
    eqn:B.
  - apply existsb_exists in B. destruct B as (p & Ip & B). apply andb_true_iff in B. destruct B as [W D].
    apply (IH (number p)) with (o := p); [|reflexivity|exact Ip|].
    + unfold entries.waits_for in W. apply andb_true_iff in W. apply Nat.ltb_lt, W.
    + intros J. apply negb_true_iff in D.
      assert (T : existsb (Nat.eqb (number p)) (done A) = true); [|congruence]. apply existsb_exists.
      exists (number p). split; [exact J|apply Nat.eqb_refl].
  - exists o. split; [exact Io|]. split; [exact N|]. intros p Ip W.
    destruct (in_dec Nat.eq_dec (number p) (done A)) as [J|J]; [exact J|exfalso].
    assert (T : existsb (fun p => waits_for o p && negb (existsb (Nat.eqb (number p)) (done A))) all = true);
      [|congruence]. apply existsb_exists. exists p. split; [exact Ip|]. rewrite W. simpl. apply negb_true_iff.
    destruct (existsb (Nat.eqb (number p)) (done A)) eqn:T; [|reflexivity]. exfalso. apply existsb_exists in T.
    destruct T as (k & Ik & T). apply Nat.eqb_eq in T. subst k. exact (J Ik).
Qed.

(* Where something is left to be dispatched, some state is reached by the last instant at which it can be. *)
Definition latest_is_explored : Prop := forall A, explored A -> ~ given_up A ->
  (exists y, eligible A y) -> by_then A <= some_by A /\ exists i, possible A i (some_by A).

Lemma bound_of_the_rest o F : In o all -> latest_is_explored ->
  (forall A, explored A -> given_up A -> In (number o) (done A)) ->
  (forall A, explored A -> In (number o) (done A) -> over_by A (number o) <= F) ->
  forall A, explored A -> ~ In (number o) (done A) -> some_by A <= F.
Proof.
  intros Io La Up Fi A. remember (length (filter (fun p => negb (existsb (Nat.eqb (number p)) (done A))) all)) as m
    eqn:M.
  revert A M. induction m as [m IH] using (well_founded_induction lt_wf). intros A -> X N.
  destruct (La A X (fun G => N (Up A X G)) (some_eligible A o Io N)) as (_ & i & Po).
  destruct (explored_next E A i _ X Po) as [G|(B & XB & Fo)]; [destruct (N (Up A X G))|].
  assert (Dn := follows_done Fo).
  destruct (follows_over_own Fo) as [_ Ov]. destruct (follows_by Fo) as [By _].
  destruct (Nat.eq_dec (number o) (number i)) as [Z|Z].
  - assert (Y := Fi B XB). rewrite Z in Y. specialize (Y (proj2 (Dn _) (or_introl eq_refl))). lia.
  - assert (NB : ~ In (number o) (done B)) by (rewrite Dn; intros [Y|Y]; [exact (Z Y)|exact (N Y)]).
    destruct (La B XB (fun G => NB (Up B XB G)) (some_eligible B o Io NB)) as (Y & _).
    assert (some_by B <= F); [|lia]. eapply IH; [|reflexivity|exact XB|exact NB].
    assert (El := proj1 (possible_next Po)). destruct El as (Ii & Ni & _).
    assert (Mem : forall k l, existsb (Nat.eqb k) l = true <-> In k l).
    { intros k l. rewrite existsb_exists. split.
      - intros (y & I & T). apply Nat.eqb_eq in T. congruence.
      - intros I. exists k. split; [exact I|apply Nat.eqb_refl]. }
    apply in_split in Ii. destruct Ii as (a & b & Ea). rewrite Ea, !filter_app, !app_length. simpl.
    rewrite (proj2 (Mem (number i) (done B)) (proj2 (Dn _) (or_introl eq_refl))).
    destruct (existsb (Nat.eqb (number i)) (done A)) eqn:T; [destruct (Ni (proj1 (Mem _ _) T))|]. simpl.
    assert (Less : forall l, length (filter (fun p => negb (existsb (Nat.eqb (number p)) (done B))) l) <=
      length (filter (fun p => negb (existsb (Nat.eqb (number p)) (done A))) l)).
    { induction l as [|p l IHl]; simpl; [lia|].
      destruct (existsb (Nat.eqb (number p)) (done A)) eqn:TA.
      - rewrite (proj2 (Mem (number p) (done B)) (proj2 (Dn _) (or_intror (proj1 (Mem _ _) TA)))). simpl. exact IHl.
      - destruct (existsb (Nat.eqb (number p)) (done B)); simpl; lia. }
    assert (La1 := Less a). assert (Lb := Less b). lia.
Qed.

(* The largest bound over all states of the exploration in which a kernel is dispatched is one in every run, if it is
  in
   each from which nothing is explored. *)
Theorem explored_orders_bound o F : In o all -> latest_is_explored ->
  (forall A, explored A -> given_up A -> In (number o) (done A)) ->
  (forall A, explored A -> In (number o) (done A) -> over_by A (number o) <= F) ->
  forall xs s, steps g (empty g) xs s -> on_time all 0 [] xs -> F < now s ->
  In o (launches xs) /\ ~ pending s o.
Proof.
  intros Io La Up Fi xs s H T L. destruct (every_run_is_explored xs s H T) as (V & A & X & Z).
  destruct (in_dec Nat.eq_dec (number o) (done A)) as [D|D].
  - assert (Q : settled A s) by (destruct Z as [Z|[_ Z]]; [apply (holds_settled A _ s Z)|exact Z]).
    destruct (Q o Io D) as (Lo & N & P & R).
    split; [apply (earlier_is_launched g all K _ _ o V Io Lo)|]. intros Po.
    destruct (gone_runs g all K _ s o V Io (P Po) N) as (r & I & Er). specialize (R r I Er).
    assert (Al := inv_alive _ _ _ _ V r I). specialize (Fi A X D). lia.
  - exfalso. destruct Z as [Z|[Z _]]; [|destruct (D (Up A X Z))].
    assert (Y := bound_of_the_rest o F Io La Up Fi A X D). destruct (some_eligible A o Io D) as (y & El).
    destruct (computed_some (explored_computed E A X) (ex_intro _ y El)) as [S1 S2].
    destruct (has_entered A _ s X V Z (S (list_max (map (fun y => level_of y) all))) 0) as (h & p & m & rs & Lh & Np).
    + intros q I. assert (M := proj1 (list_max_le (map (fun y => level_of y) all) _) (le_n _)).
      rewrite Forall_forall in M. specialize (M _ (in_map _ _ _ I)). simpl in M. lia.
    + exists y. split; [exact El|lia].
    + lia.
    + destruct (head_by_start A _ s X V Z h p m rs Np) as (Lp & Mp & Dp). specialize (S2 p Mp ltac:(lia)). lia.
Qed.
End Orders.
