(* The simplest exploration: of a kernel alone, which takes whole waves. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues capacity serial closed busy next entries explored orders room.

Section Alone.
Variables (g : device) (o : operation) (n : nat) (need : resources) (lasts : range) (per_sm : nat).
Hypothesis W : what o = Kernel (S n) need lasts.
Hypothesis Slots : 0 < slots need.
(* Each SM holds so many of its blocks. *)
Hypothesis Holds : forall cap, In cap (sms g) -> per_sm <= held need cap.
Let resident : nat := per_sm * length (usable g o).
Hypothesis Any : 0 < resident.

Let wave (m : nat) : nat := launched_at o + m / resident * worst lasts.
Let all := [o].
Let before_it := Abstract [] 0 0 (fun _ => []) (fun _ => 0) (fun _ => 0) (fun _ => None)
  (fun l => if l =? level_of g 0 (stream o) then launched_at o else wave n)
  (fun _ => map wave (seq 0 (S n))) (wave n).
Let after_it := Abstract [number o] 0 (wave n) (fun _ => map (fun u => u + worst lasts) (map wave (seq 0 (S n))))
  (fun _ => 0) (fun _ => wave n + worst lasts) (fun _ => Some (launched_at o)) (fun _ => 0) (fun _ => []) (wave n).
Let explored (A : abstract) : Prop := A = before_it \/ A = after_it.

Lemma alone_kernels : kernels all.
Proof.
  split.
  - intros p [<-|[]]. exists n, need, lasts. exact W.
  - intros p q [<-|[]] [<-|[]] _. reflexivity.
Qed.
Lemma alone_free p : waits_for g o p = true -> In p all -> False.
Proof.
  intros Wp [<-|[]]. unfold waits_for in Wp. rewrite Nat.ltb_irrefl in Wp. discriminate Wp.
Qed.
Lemma alone_worst : worst_of o = worst lasts.
Proof. unfold worst_of. rewrite W. reflexivity. Qed.
Lemma alone_blocks : explored.blocks_of o = S n.
Proof. unfold explored.blocks_of. rewrite W. reflexivity. Qed.
Lemma alone_eligible A p : explored A -> eligible g all A p -> A = before_it /\ p = o.
Proof.
  intros [->| ->] ([<-|[]] & N & _); [tauto|]. exfalso. apply N. left. reflexivity.
Qed.
Lemma alone_first : eligible g all before_it o.
Proof.
  split; [left; reflexivity|]. split; [intros []|]. intros p I Wp. destruct (alone_free p Wp I).
Qed.
Lemma alone_latest f : latest_of g all f o = launched_at o.
Proof. unfold latest_of, all. simpl. unfold waits_for at 1. rewrite Nat.ltb_irrefl. reflexivity. Qed.
Lemma alone_next : may_be_next g all before_it o.
Proof.
  split; [exact alone_first|]. split; [unfold earliest; rewrite alone_latest; simpl; rewrite Nat.eqb_refl;
    apply le_n|].
  intros x Ex _ N. destruct (alone_eligible _ _ (or_introl eq_refl) Ex) as [_ ->]. destruct (N eq_refl).
Qed.
Lemma alone_start m : m < S n -> start_of before_it o m = wave m.
Proof.
  intros L. unfold start_of. change (starts before_it (number o)) with (map wave (seq 0 (S n))).
  rewrite nth_indep with (d' := wave 0) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by lia. reflexivity.
Qed.
Lemma wave_more a b : a <= b -> wave a <= wave b.
Proof. intros L. unfold wave. assert (X := Nat.div_le_mono a b resident ltac:(lia) L). nia. Qed.

(* Fewer than fill the GPU have not ended when the next has its bound. *)
Lemma alone_own m : m < S n -> later (start_of before_it o m) (firstn m (ends_of before_it o)) < resident.
Proof.
  intros L. rewrite (alone_start m L). unfold ends_of.
  change (starts before_it (number o)) with (map wave (seq 0 (S n))). rewrite alone_worst.
  assert (E : firstn m (map (fun u => u + worst lasts) (map wave (seq 0 (S n)))) =
    map (fun k => wave k + worst lasts) (seq 0 m)).
  { rewrite map_map, firstn_map. f_equal. replace (S n) with (m + (S n - m)) by lia.
    rewrite seq_app, firstn_app, seq_length, Nat.sub_diag, firstn_all2 by (rewrite seq_length; lia).
    simpl. apply app_nil_r. }
  rewrite E. assert (Old := Nat.div_mod m resident ltac:(lia)).
  assert (Rest := Nat.mod_upper_bound m resident ltac:(lia)). remember (m / resident) as w eqn:Dw.
  remember (m mod resident) as c eqn:Dc.
  assert (Split : seq 0 m = seq 0 (resident * w) ++ seq (resident * w) c) by (rewrite Old; apply seq_app).
  rewrite Split, map_app, later_app.
  assert (Z : forall k, k <= resident * w ->
    later (wave m) (map (fun k => wave k + worst lasts) (seq 0 k)) = 0).
  { induction k as [|k IH]; intros Lk; [reflexivity|]. rewrite seq_S, map_app, later_app, IH by lia. simpl.
    assert (D : wave k + worst lasts <= wave m).
    { unfold wave. rewrite <- Dw. assert (D : k / resident < w) by (apply Nat.div_lt_upper_bound; lia). nia. }
    unfold later. simpl. destruct (Nat.ltb_spec (wave m) (wave k + worst lasts)); [lia|reflexivity]. }
  rewrite (Z _ (le_n _)). assert (X : forall l, later (wave m) l <= length l).
  { intros l. unfold later. induction l as [|x l IH]; simpl; [lia|]. destruct (wave m <? x); simpl; lia. }
  specialize (X (map (fun k => wave k + worst lasts) (seq (resident * w) c))).
  rewrite map_length, seq_length in X. lia.
Qed.
(* Where a block is kept out of an SM, that holds all that it can. *)
Lemma alone_weighs : weighs_there g all (fun _ => 1) per_sm o.
Proof.
  intros sm cap room l C M Only E N. unfold need_of in N. rewrite W in N.
  eapply Nat.le_trans; [apply (Holds cap (nth_error_In _ _ C))|].
  assert (U : used sm l = scale (length (filter (on_sm sm) l)) need).
  { clear - W Only. induction l as [|r l IH]; simpl; [reflexivity|].
    rewrite (IH (fun x I => Only x (or_intror I))). destruct (on_sm sm r); [|reflexivity]. simpl. f_equal.
    destruct (Only r (or_introl eq_refl)) as [<-|[]]. unfold need_of. rewrite W. reflexivity. }
  rewrite U in E. eapply Nat.le_trans; [apply (full_sm need cap room _ Slots E N)|]. unfold weigh.
  clear. induction (filter (on_sm sm) l) as [|r m IH]; simpl; lia.
Qed.
Lemma alone_room m : m < S n -> leaves_room g all before_it o m.
Proof.
  intros L. apply (light_enough g all alone_kernels before_it o m (fun _ => 1) per_sm
    (fun _ => later (start_of before_it o m) (firstn m (ends_of before_it o)))).
  - constructor; [intros []|constructor].
  - left. reflexivity.
  - exact alone_weighs.
  - apply le_n.
  - intros p _ [].
  - intros p z Ep N. destruct (alone_eligible _ _ (or_introl eq_refl) Ep) as [_ ->]. destruct (N eq_refl).
  - assert (X := alone_own m L). unfold all. simpl sum. fold resident. lia.
Qed.
Lemma alone_dispatched : dispatched_by before_it o = wave n.
Proof. unfold dispatched_by. rewrite alone_blocks. replace (S n - 1) with n by lia. apply alone_start. lia. Qed.
Lemma alone_entered : entered before_it (level_of g 0 (stream o)) = launched_at o.
Proof. simpl. rewrite Nat.eqb_refl. reflexivity. Qed.

Lemma alone_explored : exploration g all explored (fun _ => False).
Proof.
  split.
  - exists before_it. split; [left; reflexivity|]. split; reflexivity.
  - intros A X. split.
    + intros i M. destruct (alone_eligible A i X (proj1 M)) as [-> ->]. split; rewrite ?alone_blocks.
      * change (starts before_it (number o)) with (map wave (seq 0 (S n))). rewrite map_length, seq_length.
        reflexivity.
      * intros m L. rewrite (alone_start m L), alone_entered. simpl. unfold wave. lia.
      * intros m L. rewrite !alone_start by lia. apply wave_more. lia.
      * exact alone_room.
    + intros l (y & Ey & Ly). destruct (alone_eligible A y X Ey) as [-> ->].
      destruct (Nat.eq_dec l (level_of g 0 (stream o))) as [Z|Z].
      * left. exists o. split; [exact Ey|]. split; [congruence|]. rewrite Z, alone_entered. unfold latest.
        rewrite alone_latest. apply le_n.
      * right. split; [exists o; split; [exact Ey|lia]|].
        assert (Z' : entered before_it l = wave n) by (simpl; rewrite (proj2 (Nat.eqb_neq _ _) Z); reflexivity).
        rewrite Z'. split; [simpl; lia|]. split.
        { simpl. destruct (match level_of g 0 (stream o) with 0 => false | S m => l =? m end); unfold wave; lia. }
        intros j M _. destruct (alone_eligible _ _ X (proj1 M)) as [_ ->]. rewrite alone_dispatched. apply le_n.
    + intros (y & Ey). destruct (alone_eligible A y X Ey) as [-> ->]. split.
      * simpl. destruct (match level_of g 0 (stream o) with 0 => true | S _ => false end); unfold wave; lia.
      * intros j M _. destruct (alone_eligible _ _ X (proj1 M)) as [_ ->]. rewrite alone_dispatched. apply le_n.
  - intros A i t X Po. destruct (alone_eligible A i X (proj1 (possible_next Po))) as [-> ->]. right.
    exists after_it. split; [right; reflexivity|]. assert (By := possible_by _ _ _ _ _ Po).
    rewrite alone_dispatched in By. split.
    + intros k. simpl. split; [intros [<-|[]]; left; reflexivity|intros [->|[]]; left; reflexivity].
    + simpl. lia.
    + simpl. lia.
    + intros k u [].
    + intros u _. unfold ends_of. rewrite alone_worst. apply le_n.
    + intros k [].
    + rewrite alone_worst. simpl. lia.
    + intros l z _ F. exists (launched_at o). split; [reflexivity|]. unfold last_begun in F.
      rewrite alone_entered in F. simpl begun in F. destruct (_ || _); [discriminate F|]. injection F as <-.
      destruct (prompt g all before_it o); lia.
Qed.

Theorem a_kernel_alone_takes_whole_waves xs s : steps g (empty g) xs s -> on_time [o] 0 [] xs ->
  launched_at o + ceil (S n) resident * worst lasts < now s -> In o (launches xs) /\ ~ pending s o.
Proof.
  intros H T L. apply (explored_orders_bound g all alone_kernels explored (fun _ => False) alone_explored o (wave n +
    worst lasts))
    with (xs := xs); try assumption.
  - left. reflexivity.
  - intros A X _ (y & Ey). destruct (alone_eligible A y X Ey) as [-> ->]. split; [simpl; lia|]. exists o.
    split; [exact alone_next|simpl; lia| | |apply le_n|].
    + unfold earliest. rewrite alone_latest. simpl. unfold wave. lia.
    + rewrite alone_dispatched. apply le_n.
    + intros x Ex Lx. destruct (alone_eligible _ _ X Ex) as [_ ->]. lia.
  - intros A _ [].
  - intros A [->| ->] I; [destruct I|apply le_n].
  - eapply Nat.le_lt_trans; [|exact L]. unfold wave. assert (Y : ceil (S n) resident = S (n / resident)).
    { unfold ceil. replace (S n + resident - 1) with (n + 1 * resident) by lia. rewrite Nat.div_add by lia. lia. }
    rewrite Y. lia.
Qed.
End Alone.
