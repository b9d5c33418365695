(* What happens from an instant on at which the GPU is idle is what may happen from an earlier such instant on, as much
   earlier: so what is known of jobs that are released from the one on, in all runs, holds of those from the other on.
   *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists busy.

Section Restart.
Variables (g : device) (d k : nat).

(* The same [d] later, behind [k] more launches. *)
Definition later_work (w : work) : work := match w with Wait (Some r) => Wait (Some (r + k)) | _ => w end.
Definition later_op (o : operation) : operation := Op (number o + k) (stream o) (launched_at o + d) (later_work (what
  o)).
Definition later_queue (q : stream_queue) : stream_queue := Queue (gone_on q) (map later_op (waiting q)).
Definition later_part (x : operation * nat) : operation * nat := (later_op (fst x), snd x).
Definition later_run (r : run) : run := Run (later_op (of r)) (on r) (ends r + d).
Definition later (s : state) : state :=
  State (now s + d) (turn s) (launched s + k) (map later_queue (queues s)) (map (map later_part) (ee s))
    (map (map later_op) (ce s)) (map later_run (running s)) (free s).
Definition later_label (x : label) : label :=
  match x with
  | Launch o => Launch (later_op o) | GoOn o => GoOn (later_op o) | Begin o t => Begin (later_op o) t
  | Assign o i t => Assign (later_op o) i t | End o p => End (later_op o) p | Until t => Until (t + d)
  | HostsTurn => HostsTurn | DispatchTurn => DispatchTurn | Again => Again
  end.

Lemma update_map {A B} (f : A -> B) i x l : update i (f x) (map f l) = map f (update i x l).
Proof. revert i. induction l as [|y l IH]; intros [|i]; simpl; try reflexivity. rewrite IH. reflexivity. Qed.
Lemma nth_map {A B} (f : A -> B) l i y : nth_error (map f l) i = Some y -> exists x, nth_error l i = Some x /\ y = f x.
Proof.
  rewrite nth_error_map. destruct (nth_error l i) as [x|]; [|discriminate]. intros E. injection E as <-. exists x.
  tauto.
Qed.
Lemma map_nth' {A B} (f : A -> B) l i x : nth_error l i = Some x -> nth_error (map f l) i = Some (f x).
Proof. intros E. rewrite nth_error_map, E. reflexivity. Qed.

Lemma later_once o p : later_op o = later_op p -> o = p.
Proof.
  destruct o as [a b c w], p as [a' b' c' w']. unfold later_op. simpl. intros E. injection E as E1 -> E3 E4.
  assert (a = a') by lia. assert (c = c') by lia. subst. f_equal.
  destruct w as [| | |[r|]], w' as [| | |[r'|]]; simpl in E4; try discriminate E4; try exact E4.
  injection E4 as E4. do 2 f_equal. lia.
Qed.
Lemma later_all l m : map later_op l = map later_op m -> l = m.
Proof.
  revert m. induction l as [|x l IH]; intros [|y m] E; try discriminate E; [reflexivity|]. simpl in E.
  assert (E1 := f_equal (hd (later_op x)) E). assert (E2 := f_equal (@tl _) E). simpl in E1, E2.
  rewrite (later_once _ _ E1), (IH m E2). reflexivity.
Qed.

(* A queue of the later state is one of the earlier. *)
Lemma queue_was s q b o rest : nth_error (queues (later s)) q = Some (Queue b (o :: rest)) -> exists p m,
  nth_error (queues s) q = Some (Queue b (p :: m)) /\ o = later_op p /\ rest = map later_op m.
Proof.
  intros E. apply nth_map in E. destruct E as ([c [|p m]] & F & E); unfold later_queue in E; simpl in E;
    [discriminate E|]. injection E as E1 E3 E4. subst. exists p, m. tauto.
Qed.
Lemma queue_later s q b o rest : nth_error (queues s) q = Some (Queue b (o :: rest)) ->
  nth_error (queues (later s)) q = Some (Queue b (later_op o :: map later_op rest)).
Proof. intros E. apply (map_nth' later_queue) in E. exact E. Qed.
Lemma kernel_later o n need la : what (later_op o) = Kernel n need la <-> what o = Kernel n need la.
Proof. simpl. destruct (what o) as [| | |[r|]]; simpl; split; congruence. Qed.
Lemma copy_later o e la : what (later_op o) = Copy e la <-> what o = Copy e la.
Proof. simpl. destruct (what o) as [| | |[r|]]; simpl; split; congruence. Qed.

Lemma first_later s o q : empty_or_later (later s) (later_op o) q <-> empty_or_later s o q.
Proof.
  split; intros H h (b & m & F).
  - assert (Z := H (later_op h)). simpl in Z. enough (number o + k < number h + k) by lia. apply Z.
    exists b, (map later_op m). apply (queue_later s q b h m F).
  - destruct (queue_was s q b h m F) as (p & n & G & -> & _). simpl. enough (number o < number p) by lia. apply H.
    exists b, n. exact G.
Qed.
Lemma ready_later s q o rest : ready g (later s) q (later_op o) (map later_op rest) <-> ready g s q o rest.
Proof.
  assert (E : E2 (later s) (later_op o) <-> E2 s o).
  { split; intros H r W q' m p F I.
    - assert (W' : what (later_op o) = Wait (Some (r + k))) by (simpl; rewrite W; reflexivity).
      assert (F' := map_nth' later_queue _ _ _ F).
      assert (Z := H _ W' q' _ (later_op p) F' (in_map later_op _ _ I)). simpl in Z. lia.
    - simpl in W. destruct (what o) as [| | |[a|]] eqn:X; simpl in W; try discriminate W. injection W as <-.
      apply nth_map in F. destruct F as (m' & F & ->). simpl in I. apply in_map_iff in I. destruct I as (p' & <- & I).
      assert (Z := H a X q' m' p' F I). simpl. lia. }
  unfold ready, N1, N2. split.
  - intros (F & A & B & D). destruct (queue_was s q _ _ _ F) as (p & m & G & Eo & Er). split.
    + apply later_once in Eo. apply later_all in Er. subst. exact G.
    + split; [|split; [|apply E, D]].
      * intros Z other N Bl. apply first_later, (A Z other N Bl).
      * intros Z Bl. apply first_later, (B Z Bl).
  - intros (F & A & B & D). split; [apply (queue_later s q _ _ _ F)|]. split; [|split; [|apply E, D]].
    + intros Z other N Bl. apply first_later, (A Z other N Bl).
    + intros Z Bl. apply first_later, (B Z Bl).
Qed.

Lemma settled s : all_went_on g (later s) -> all_went_on g s.
Proof. intros A q o rest R. apply (A q (later_op o) (map later_op rest)), ready_later, R. Qed.
Lemma ends_none s : none_ends_now (later s) -> none_ends_now s.
Proof. intros A r I E. apply (A (later_run r) (in_map later_run _ _ I)). simpl. lia. Qed.
Lemma over_later s o still : over (later s) (later_op o) (map later_run still) <-> over s o still.
Proof.
  split; intros [A B]; split.
  - intros r I E. apply (A (later_run r) (in_map later_run _ _ I)). simpl. lia.
  - intros l q n F I E. apply (B l _ (later_part n) (map_nth' (map later_part) _ _ _ F) (in_map later_part _ _ I)).
    simpl. lia.
  - intros r I. apply in_map_iff in I. destruct I as (r' & <- & I). simpl. assert (Z := A r' I). lia.
  - intros l q n F I. apply nth_map in F. destruct F as (q' & F & ->). apply in_map_iff in I.
    destruct I as (n' & <- & I).
    assert (Z := B l q' n' F I). simpl. lia.
Qed.
Lemma kernel_was s l o n rest : next_kernel (later s) l o n rest -> exists p m,
  next_kernel s l p n m /\ o = later_op p /\ rest = map later_part m.
Proof.
  intros [F A]. apply nth_map in F. destruct F as ([|[p i] m] & F & E); [discriminate E|].
  injection E as E1 E3 E4. subst.
  exists p, m. split; [split; [exact F|]|tauto]. intros h L. assert (Z := A h L). apply nth_map in Z.
  destruct Z as ([|x q] & Z & E); [exact Z|discriminate E].
Qed.
Lemma no_room s : no_block_fits g (later s) -> no_block_fits g s.
Proof.
  intros A l o n rest b need la i room [F Z] W M. apply (A l (later_op o) n (map later_part rest) b need la i room).
  - split; [apply (map_nth' (map later_part) _ _ _ F)|]. intros h L. apply (map_nth' (map later_part) _ _ _ (Z h L)).
  - apply kernel_later, W.
  - exact M.
Qed.
Lemma begin_later s e o rest : may_begin s e o rest -> may_begin (later s) e (later_op o) (map later_op rest).
Proof.
  intros [F A]. split; [apply (map_nth' (map later_op) _ _ _ F)|]. intros r I. apply in_map_iff in I.
  destruct I as (r' & <- & I). apply (A r' I).
Qed.
Lemma begin_was s e o rest : may_begin (later s) e o rest -> exists p m,
  may_begin s e p m /\ o = later_op p /\ rest = map later_op m.
Proof.
  intros [F A]. apply nth_map in F. destruct F as ([|p m] & F & E); [discriminate E|]. injection E as E1 E3. subst.
  exists p, m. split; [split; [exact F|]|tauto]. intros r I. apply (A (later_run r) (in_map later_run _ _ I)).
Qed.
Lemma no_copy s : no_copy_begins (later s) -> no_copy_begins s.
Proof. intros A e o rest B. apply (A e _ _ (begin_later s e o rest B)). Qed.
Lemma gave_back s r : given_back (later s) (later_run r) = given_back s r.
Proof. unfold given_back. simpl. destruct (on r); [|reflexivity]. destruct (what (of r)) as [| | |[a|]]; reflexivity.
  Qed.
Lemma first_was s o rest : first_ready g (later s) (stream o) o rest -> exists p m,
  first_ready g s (stream p) p m /\ o = later_op p /\ rest = map later_op m.
Proof.
  intros [R A]. destruct (queue_was s _ _ _ _ (proj1 R)) as (p & m & _ & -> & ->). exists p, m.
  split; [split; [apply ready_later, R|]|tauto]. intros q h n Q N.
  assert (Z := A q _ _ (proj2 (ready_later s q h n) Q) N). simpl in Z. lia.
Qed.

(* Waits are for records since the later instant. *)
Definition since_then (x : label) : Prop := forall o r, x = Launch o -> what o = Wait (Some r) -> k <= r.
Lemma step_was s x t : step g (later s) x t -> since_then x -> exists y u,
  x = later_label y /\ t = later u /\ step g s y u.
Proof.
  intros H Sn. inversion H; subst; simpl in *.
  - (* the last of an operation ends *)
    match goal with E : map later_run _ = _ |- _ => apply map_eq_app in E; destruct E as (b & [|r' a] & E & <- & Ea);
      [discriminate Ea|]; injection Ea as <- <- end. simpl in *.
    match goal with E : nth_error _ _ = Some (Queue true _) |- _ => destruct (queue_was s _ _ _ _ E) as (p & m & F & Ep
      & ->) end.
    apply later_once in Ep. subst p. rewrite <- map_app in *.
    exists (End (of r') (on r')). eexists. split; [reflexivity|]. split.
    2: { apply (Ends_G4_C4 g s b a r' m); try assumption; [apply settled; assumption|lia| |apply over_later;
      assumption].
      intros z I. match goal with A : forall _, In _ (map later_run b) -> _ |- _ =>
        specialize (A _ (in_map later_run _ _ I)); simpl in A end. lia. }
    rewrite gave_back. unfold later. simpl. f_equal. apply (update_map later_queue _ (Queue false m)).
  - match goal with E : map later_run _ = _ |- _ => apply map_eq_app in E; destruct E as (b & [|r' a] & E & <- & Ea);
      [discriminate Ea|]; injection Ea as <- <- end. simpl in *.
    rewrite <- map_app in *. exists (End (of r') (on r')). eexists. split; [reflexivity|]. split.
    2: { apply (Ends g s b a r'); try assumption; [apply settled; assumption|lia| |].
      - intros z I. match goal with A : forall _, In _ (map later_run b) -> _ |- _ =>
          specialize (A _ (in_map later_run _ _ I)); simpl in A end. lia.
      - intros Z. apply over_later in Z. tauto. }
    rewrite gave_back. reflexivity.
  - exists HostsTurn. eexists. split; [reflexivity|]. split; [|apply To_hosts; try assumption;
      [apply settled; assumption|apply ends_none; assumption]]. reflexivity.
  - (* a launch *)
    match goal with E : nth_error _ _ = Some (Queue b before) |- _ => apply nth_map in E; destruct E as ([c w] & F & E);
      unfold later_queue in E; simpl in E; injection E as -> -> end.
    assert (O : exists p, o = later_op p /\ number p = launched s /\ launched_at p = now s).
    { destruct o as [n q a w']. simpl in *. subst. assert (V : exists v, later_work v = w').
      { destruct w' as [n e l|e l| |[r|]];
          [exists (Kernel n e l)|exists (Copy e l)|exists Instant| |exists (Wait None)]; try reflexivity.
        exists (Wait (Some (r - k))). simpl. assert (L := Sn _ r eq_refl eq_refl). rewrite Nat.sub_add by exact L.
        reflexivity. }
      destruct V as [v <-]. exists (Op (launched s) q (now s) v). repeat split. }
    destruct O as (p & -> & Np & Ap). exists (Launch p). eexists. split; [reflexivity|]. split.
    2: { apply (G1 g s p c w); try assumption; [apply settled; assumption|].
      intros n l W. match goal with A : forall n l, what (later_op p) <> _ |- _ => apply (A n l), kernel_later, W end. }
    unfold later. simpl. f_equal. rewrite <- (update_map later_queue). unfold later_queue. simpl. rewrite map_app.
    reflexivity.
  - exists DispatchTurn. eexists. split; [reflexivity|]. split; [|apply To_dispatch; try assumption; apply settled;
    assumption].
    reflexivity.
  - match goal with F : first_ready _ _ _ _ _ |- _ => destruct (first_was s _ _ F) as (p & m & R & -> & ->) end.
    match goal with E : nth_error (map _ (ee s)) _ = Some _ |- _ => apply nth_map in E; destruct E as (q & F & ->) end.
    exists (GoOn p). eexists. split; [reflexivity|]. split.
    2: { eapply (G2_A1 g s); try eassumption. eapply kernel_later; eassumption. }
    unfold later. simpl. f_equal; [apply (update_map later_queue _ (Queue true (p :: m)))|].
    rewrite <- (update_map (map later_part)), map_app. reflexivity.
  - match goal with F : first_ready _ _ _ _ _ |- _ => destruct (first_was s _ _ F) as (p & m & R & -> & ->) end.
    match goal with E : nth_error (map _ (ce s)) _ = Some _ |- _ => apply nth_map in E; destruct E as (q & F & ->) end.
    exists (GoOn p). eexists. split; [reflexivity|]. split.
    2: { eapply (C1 g s); try eassumption. eapply copy_later; eassumption. }
    unfold later. simpl. f_equal; [apply (update_map later_queue _ (Queue true (p :: m)))|].
    rewrite <- (update_map (map later_op)), map_app. reflexivity.
  - match goal with F : first_ready _ _ _ _ _ |- _ => destruct (first_was s _ _ F) as (p & m & R & -> & ->) end.
    exists (GoOn p). eexists. split; [reflexivity|]. split.
    2: { eapply (E1 g s); [eassumption|]. simpl in *. destruct (what p) as [| | |[r|]]; simpl in *;
      match goal with A : _ \/ _ |- _ => destruct A as [A|[z A]] end; try discriminate A; eauto. }
    unfold later. simpl. f_equal. apply (update_map later_queue _ (Queue false m)).
  - match goal with B : may_begin _ _ _ _ |- _ => destruct (begin_was s _ _ _ B) as (p & m & R & -> & ->) end.
    exists (Begin p d0). eexists. split; [reflexivity|]. split.
    2: { eapply (C2_C3 g s); try eassumption; [|eapply copy_later; eassumption].
      intros e' o' r' B. match goal with A : forall _ _ _, may_begin (later s) _ _ _ -> _ |- _ =>
        apply (A e' _ _ (begin_later s e' o' r' B)) end. }
    unfold later. simpl. f_equal; [rewrite <- (update_map (map later_op)); reflexivity|].
    rewrite map_app. simpl. unfold later_run. simpl. do 3 f_equal. lia.
  - match goal with B : next_kernel _ _ _ _ _ |- _ => destruct (kernel_was s _ _ _ _ B) as (p & m & R & -> & ->) end.
    exists (Assign p i d0). eexists. split; [reflexivity|]. split.
    2: { eapply (X1_A2_R1 g s); try eassumption; [apply no_copy; assumption|eapply kernel_later; eassumption]. }
    unfold later. simpl. f_equal; [|rewrite map_app; simpl; unfold later_run; simpl; do 3 f_equal; lia].
    rewrite <- (update_map (map later_part)). destruct n; reflexivity.
  - match goal with I : In r _ |- _ => apply in_map_iff in I; destruct I as (r' & <- & I) end.
    exists Again. eexists. split; [reflexivity|]. split.
    2: { apply (Zero_length g s r'); try assumption; [apply no_copy; assumption|apply no_room; assumption|].
      simpl in *. lia. }
    reflexivity.
  - exists (Until (t0 - d)). exists (State (t0 - d) Completions (launched s) (queues s) (ee s) (ce s) (running s) (free
    s)).
    simpl. rewrite Nat.sub_add by lia. split; [reflexivity|]. split; [unfold later; simpl; rewrite Nat.sub_add by lia;
      reflexivity|].
    apply Time; try assumption; [apply no_copy; assumption|apply no_room; assumption|apply ends_none; assumption|lia|].
    intros r I. match goal with A : forall r, In r (map later_run _) -> _ |- _ =>
      specialize (A _ (in_map later_run _ _ I)); simpl in A end. lia.
Qed.

(* Whatever happens from a later state on may happen from the earlier one on, as much earlier. *)
Theorem restarts : forall s xs t, steps g (later s) xs t -> (forall x, In x xs -> since_then x) ->
  exists ys u, xs = map later_label ys /\ t = later u /\ steps g s ys u.
Proof.
  intros s xs t H. remember (later s) as a eqn:Ea. revert s Ea.
  induction H as [a|a b c x xs St H IH]; intros s -> Sn; [exists [], s; repeat split; constructor|].
  destruct (step_was s x b St (Sn x (or_introl eq_refl))) as (y & u & -> & -> & Sy).
  destruct (IH u eq_refl (fun z I => Sn z (or_intror I))) as (ys & v & -> & -> & Hs).
  exists (y :: ys), v. split; [reflexivity|]. split; [reflexivity|]. eapply Go; eassumption.
Qed.
End Restart.

Lemma map_repeat {A B} (f : A -> B) x n : map f (repeat x n) = repeat (f x) n.
Proof. induction n as [|n IH]; [reflexivity|]. simpl. rewrite IH. reflexivity. Qed.
(* A GPU at rest, when all that ends at an instant has ended and nothing of it is launched yet. *)
Definition at_rest (g : device) (s : state) : Prop := turn s = Completions /\
  queues s = repeat (Queue false []) (length (streams g)) /\ ee s = repeat [] (levels g) /\ ce s = repeat [] (engines
    g) /\
  running s = [] /\ free s = sms g.
Definition rest_at (g : device) (x : nat) : state := State x Completions 0 (queues (empty g)) (ee (empty g)) (ce (empty
  g)) [] (sms g).
Lemma rests g x : exists before, steps g (empty g) before (rest_at g x) /\ launches before = [].
Proof.
  destruct x as [|x]; [exists []; split; [constructor|reflexivity]|]. exists [HostsTurn; DispatchTurn; Until (S x)].
  split; [|reflexivity].
  assert (None : forall {A} (l : list A) n i y, nth_error (repeat (@nil A) n) i = Some (y :: l) -> False).
  { intros A l n i y E. apply nth_error_In, repeat_spec in E. discriminate E. }
  assert (Went : forall s, queues s = queues (empty g) -> all_went_on g s).
  { intros s E q o rest [F _]. rewrite E in F. simpl in F. apply nth_error_In, repeat_spec in F. discriminate F. }
  eapply Go; [apply To_hosts; [reflexivity|apply Went; reflexivity|intros r []]|].
  eapply Go; [apply To_dispatch; [reflexivity|apply Went; reflexivity]|].
  eapply Go; [apply (Time g _ (S x)); simpl; [reflexivity| | |intros r []|lia|intros r []]|constructor].
  - intros e o rest [F _]. simpl in F. apply (None _ _ _ _ _ F).
  - intros l o n rest b need la i room [F _]. simpl in F. destruct (None _ _ _ _ _ F).
Qed.
(* So what follows an instant of rest may follow any earlier one, as much earlier, with nothing before it. *)
Theorem begins_again : forall g s ys t x, at_rest g s -> x <= now s -> steps g s ys t ->
  (forall y, In y ys -> since_then (launched s) y) ->
  exists before zs u, launches before = [] /\ steps g (empty g) before (rest_at g x) /\ steps g (rest_at g x) zs u /\
    ys = map (later_label (now s - x) (launched s)) zs /\ t = later (now s - x) (launched s) u.
Proof.
  intros g s ys t x (T & Q & E & C & R & F) Le H Sn. destruct (rests g x) as (before & Hb & Nb).
  assert (Same : s = later (now s - x) (launched s) (rest_at g x)).
  { destruct s as [n p l q e c r f]. simpl in *. subst. unfold later. simpl. rewrite !map_repeat. f_equal. lia. }
  rewrite Same in H. destruct (restarts g _ _ _ ys t H Sn) as (zs & u & A & B & D). exists before, zs, u. tauto.
Qed.
