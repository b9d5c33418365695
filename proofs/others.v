(* Jobs that may wait for operations of others: whatever they can reach so counts once, and on paths are pauses only. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy waits shared carried heads paths.

(* What is in queues is of what was launched; operations have the numbers of their launches. *)
Lemma queued_of_launches g (f : operation -> nat) xs s : steps g (empty g) xs s ->
  sum (map (fun k => sum (map f (waiting k))) (queues s)) <= sum (map f (launches xs)).
Proof.
  revert xs s. apply (in_steps g (fun xs s =>
    sum (map (fun k => sum (map f (waiting k))) (queues s)) <= sum (map f (launches xs)))).
  - simpl. rewrite sum_none; [apply le_n|]. intros k I. apply repeat_spec in I. subst k. reflexivity.
  - intros xs s x t _ H IH. rewrite launches_app, map_app, sum_app. simpl. rewrite app_nil_r.
    set (w := fun k => sum (map f (waiting k))) in *.
    destruct H; simpl; try lia;
      try match goal with Z : first_ready _ _ _ _ _ |- _ => destruct Z as [[F0 _] _] end.
    + assert (Z := sum_update w (Queue false rest) _ _ _ H5). unfold w at 2 4 in Z. simpl in Z. lia.
    + assert (Z := sum_update w (Queue b (before ++ [o])) _ _ _ H4). unfold w at 2 4 in Z. simpl in Z.
      rewrite map_app, sum_app in Z. simpl in Z. lia.
    + assert (Z := sum_update w (Queue true (o :: rest)) _ _ _ F0). unfold w at 2 4 in Z. simpl in Z. lia.
    + assert (Z := sum_update w (Queue true (o :: rest)) _ _ _ F0). unfold w at 2 4 in Z. simpl in Z. lia.
    + assert (Z := sum_update w (Queue false rest) _ _ _ F0). unfold w at 2 4 in Z. simpl in Z. lia.
Qed.
Lemma number_of_launch g xs s o : steps g (empty g) xs s -> In o (launches xs) -> number o < launched s.
Proof.
  intros H. revert o. revert xs s H.
  apply (in_steps g (fun xs s => forall o, In o (launches xs) -> number o < launched s)).
  - intros o [].
  - intros xs s x t _ H IH o I. rewrite launches_app, in_app_iff in I. destruct I as [I|I].
    + specialize (IH o I). destruct H; simpl; lia.
    + simpl in I. rewrite app_nil_r in I. destruct x; try destruct I as [<-|[]]; try destruct I.
      inversion H; subst. simpl. lia.
Qed.
(* What is left was left at each point since its launch. *)
Lemma left_since g xs ys u s p : steps g (empty g) xs u -> steps g u ys s -> In p (launches xs) -> is_left s p ->
  is_left u p.
Proof.
  intros Hu H. revert xs Hu. induction H as [s|s t v x ys St H IH]; intros xs Hu I L; [exact L|].
  assert (Hx := one_more_step g _ _ _ _ _ Hu St).
  assert (Lt : is_left t p).
  { apply (IH _ Hx); [|exact L]. rewrite launches_app, in_app_iff. left. exact I. }
  assert (K := sound_kept _ _ _ _ (sound_run g (fun _ => True) xs s Hu (fun _ _ => Logic.I))).
  destruct (left_before g s x t p K St Lt) as [Ls| ->]; [exact Ls|].
  assert (N := number_of_launch g xs s p Hu I). inversion St; subst. lia.
Qed.

Section Others.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Local Notation of_upper := (of_upper g top).
Variables (weight : operation -> nat) (one : nat).
Hypothesis Heavy : heavy g top P weight one.
Local Notation remains := (remains g top weight).
Local Notation own := (own top blocks weight one).
Local Notation within_cost := (within_cost g top weight one).
Variable good : list label -> Prop.
Hypothesis Prefix : forall l k, good (l ++ k) -> good l.
Hypothesis All : forall xs o, good xs -> In o (launches xs) -> P o.
(* The release of a job, and what counts from then on: whatever may be left then, or is launched later. *)
Variables (r : nat) (counts : operation -> bool).
Hypothesis Counts : forall xs s, steps g (empty g) xs s -> good xs -> r <= now s ->
  everywhere (fun o => upper o = true -> counts o = true) s.
(* All that the job can wait for, also through others. *)
Variable related : operation -> bool.
Hypothesis Related_upper : forall o, related o = true -> upper o = true.
Hypothesis Related_copies : forall o p e l m, related o = true -> P o -> P p -> what o = Copy e l -> what p = Copy e m ->
  one <= weight p.
Hypothesis Related_waits : forall o p, related o = true -> P o -> P p -> counts p = true -> may_wait g o p = true ->
  related p = true.

Definition of_related (f : operation -> nat) (o : operation) : nat := if related o then f o else 0.
Definition needs (c : operation -> nat) (s : state) : nat :=
  sum (map (fun k => sum (map (of_related c) (waiting k))) (queues s)).
(* The work of what counts, and what the related operations take themselves. *)
Definition total (l : list operation) : nat :=
  work g top weight counts l + sum (map (fun o => if counts o then of_related own o else 0) l).
Definition fine (c : operation -> nat) (xs : list label) (s : state) : Prop := forall o, related o = true ->
  at_head s o /\ within_cost s o (c o) \/
  ~ at_head s o /\ (c o = own o \/ In o (launches xs) /\ ~ is_left s o).
(* With what was launched, [K] is enough for all that is left at [s], and for a time [T]. *)
Definition enough_for (T K : nat) (xs : list label) (s : state) : Prop :=
  exists c, fine c xs s /\ one * T + needs c s + remains s <= K + total (launches xs).

Lemma total_app l k : total (l ++ k) = total l + total k.
Proof. unfold total. rewrite work_app, map_app, sum_app. lia. Qed.

Lemma fine_step c xs s x t : steps g (empty g) xs s -> good xs -> step g s x t -> fine c xs s -> fine c (xs ++ [x]) t.
Proof.
  intros H G St Fn o Ro. assert (S := sound_run g P xs s H (fun o => All xs o G)). destruct S as [U K O Ps _ _].
  assert (Up := Related_upper o Ro).
  assert (Old : In o (launches xs) -> In o (launches (xs ++ [x]))) by (rewrite launches_app, in_app_iff; tauto).
  assert (Head : forall v, at_head v o -> is_left v o).
  { intros v [m E]. exists (Queue true (o :: m)). split; [exact E|left; reflexivity]. }
  assert (X : (exists u, x = Until u) \/ forall u, x <> Until u) by (destruct x; [right; discriminate..|left; eauto]).
  destruct X as [[u ->]|Not].
  { assert (Inv := St). inversion Inv; subst. destruct (Fn o Ro) as [[A V]|[A D]].
    - left. split; [exact A|]. eapply cost_later; [|reflexivity|exact V]. lia.
    - right. split; [exact A|]. destruct D as [D|[D L]]; [left; exact D|right; split; [apply Old, D|exact L]]. }
  destruct (Fn o Ro) as [[A V]|[A D]].
  - destruct (at_head_dec t o) as [B|B].
    + left. split; [exact B|]. apply (cost_step g top weight one s x t o (c o) U K St Not A Up V).
    + right. split; [exact B|right]. split; [apply Old, (left_is_launched g xs s o H (Head s A))|].
      intros L. apply B, (stays_at_head g s x t o O St A L).
  - destruct (at_head_dec t o) as [B|B].
    + destruct (at_head_before g s x t o O St B) as [B'| ->]; [destruct (A B')|]. left. split; [exact B|].
      destruct D as [->|[_ L]]; [apply (cost_begins g top blocks P C weight one s o t U K Ps St Up)|].
      destruct L. destruct (left_before g s _ t o K St (Head t B)) as [Ls|Z]; [exact Ls|discriminate Z].
    + right. split; [exact B|]. destruct D as [D|[D L]]; [left; exact D|right]. split; [apply Old, D|]. intros Lt.
      destruct (left_before g s x t o K St Lt) as [Ls| ->]; [exact (L Ls)|].
      assert (N := number_of_launch g xs s o H D). inversion St; subst. lia.
Qed.

(* But for time, nothing adds to what is needed beyond what is launched. *)
Lemma enough_step T K xs s x t : steps g (empty g) xs s -> good (xs ++ [x]) -> r <= now s -> step g s x t ->
  enough_for T K xs s -> enough_for T K (xs ++ [x]) t.
Proof.
  intros H G L St (c & Fn & Z). assert (G0 := Prefix _ _ G). exists c.
  split; [apply (fine_step c xs s x t H G0 St Fn)|].
  assert (R := remains_grows g top P weight good Prefix All r counts Counts xs s x t H St G L).
  enough (Q : needs c t + sum (map (fun o => if counts o then of_related own o else 0) (launches xs)) <=
    needs c s + sum (map (fun o => if counts o then of_related own o else 0) (launches (xs ++ [x]))))
    by (unfold total in *; lia).
  rewrite launches_app, map_app, sum_app. simpl. rewrite app_nil_r.
  set (w := fun k => sum (map (of_related c) (waiting k))).
  assert (Last : forall o, x = Launch o -> of_related c o <= if counts o then of_related own o else 0).
  { intros o ->. unfold of_related. destruct (related o) eqn:Ro; [|lia].
    assert (H' := one_more_step g _ _ _ _ _ H St). destruct (launched_now g s _ t o St (or_introl eq_refl)) as (_ & _ & Nt).
    assert (Lo : is_left t o).
    { inversion St; subst. match goal with F : nth_error (queues s) _ = Some (Queue b before) |- _ =>
        exists (Queue b (before ++ [o])); simpl; split; [apply (update_same _ _ _ _ F)|apply in_elt] end. }
    assert (Co := everywhere_left _ t o (Counts _ t H' G ltac:(lia)) Lo (Related_upper o Ro)). rewrite Co.
    destruct (Fn o Ro) as [[[m A] _]|[_ [->|[A _]]]]; [|apply le_n|].
    - assert (N := order_launched g s (sound_order _ _ _ _ (sound_run g P xs s H (fun o => All xs o G0))) _ _ o A
        (or_introl eq_refl)). inversion St; subst. lia.
    - assert (N := number_of_launch g xs s o H A). inversion St; subst. lia. }
  unfold needs. fold w. destruct St; simpl; try lia;
    try match goal with Y : first_ready _ _ _ _ _ |- _ => destruct Y as [[F0 _] _] end.
  - assert (Y := sum_update w (Queue false rest) _ _ _ H6). unfold w at 2 4 in Y. simpl in Y. lia.
  - assert (Y := sum_update w (Queue b (before ++ [o])) _ _ _ H5). unfold w at 2 4 in Y. simpl in Y.
    rewrite map_app, sum_app in Y. simpl in Y. specialize (Last o eq_refl). lia.
  - assert (Y := sum_update w (Queue true (o :: rest)) _ _ _ F0). unfold w at 2 4 in Y. simpl in Y. lia.
  - assert (Y := sum_update w (Queue true (o :: rest)) _ _ _ F0). unfold w at 2 4 in Y. simpl in Y. lia.
  - assert (Y := sum_update w (Queue false rest) _ _ _ F0). unfold w at 2 4 in Y. simpl in Y. lia.
Qed.

(* One of what is left and needs some gets less. *)
Lemma sum_less {A} (f h : A -> nat) l x : In x l -> (forall y, f y <= h y) ->
  sum (map f l) + h x <= sum (map h l) + f x.
Proof.
  intros I Le. assert (All_le : forall k, sum (map f k) <= sum (map h k)) by (intros k; apply sum_le; intros; apply Le).
  induction l as [|y l IH]; [destruct I|]. simpl. destruct I as [->|I].
  - specialize (All_le l). lia.
  - specialize (IH I). specialize (Le y). lia.
Qed.

(* As time passes while something related is left, it comes nearer to its end, or the work of all does. *)
Lemma enough_in_time K xs s t u p : steps g (empty g) xs s -> good (xs ++ [Until u]) -> r <= now s ->
  step g s (Until u) t -> related p = true -> is_left s p ->
  enough_for (now s) K xs s -> enough_for (now t) K (xs ++ [Until u]) t.
Proof.
  intros H G L St Rp Lp (c & Fn & Z). assert (G0 := Prefix _ _ G).
  assert (S := sound_run g P xs s H (fun o => All xs o G0)). destruct S as [U Kp O Ps _ _].
  assert (Inv := St). inversion Inv; subst.
  match goal with E : forall r, In r (running s) -> u <= ends r |- _ => rename E into Ends end.
  set (t := State u Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) in *.
  assert (Head : exists h, related h = true /\ at_head s h).
  { assert (Wt := usage_dispatch g s U ltac:(assumption)). remember (number p) as n eqn:En. revert p Rp Lp En.
    induction n as [n IHn] using (well_founded_induction lt_wf). intros p Rp Lp En.
    destruct (waits_for_something g s p Kp O Wt) as [B|(q & Lq & Wq)]; [|exact Lp|exists p; tauto|].
    { intros m E. assert (Pp := everywhere_left _ s p Ps Lp).
      assert (Cr := allowed_runs _ _ _ _ (closed_allowed _ _ _ _ C p Pp)). unfold can_run in Cr. rewrite E in Cr. exact Cr. }
    assert (Pp := everywhere_left _ s p Ps Lp). assert (Pq := everywhere_left _ s q Ps Lq).
    assert (Uq := waited_upper g top blocks P C p q Pp Pq (Related_upper p Rp) Wq).
    assert (Cq := everywhere_left _ s q (Counts xs s H G0 L) Lq Uq).
    apply (IHn (number q)) with (p := q); [|apply (Related_waits p q Rp Pp Pq Cq Wq)|exact Lq|reflexivity].
    unfold may_wait in Wq. apply andb_true_iff in Wq. subst n. apply Nat.ltb_lt, Wq. }
  destruct Head as (h & Rh & Ah). destruct (Fn h Rh) as [[_ V]|[A _]]; [|destruct (A Ah)].
  assert (Ph : P h) by (destruct Ah as [m E]; apply (everywhere_queues _ s Ps _ _ h E (or_introl eq_refl))).
  destruct (cost_in_time g top blocks P C weight one Heavy s u h (c h) U Kp O Ps) with (t := t)
    as (v & Le & V' & Z'); try assumption;
    [apply (Related_upper h Rh)|intros q e l m; apply (Related_copies h q e l m Rh Ph)|reflexivity|].
  assert (Dec : forall o, {o = h} + {o <> h}) by (intros o; repeat decide equality).
  set (c' := fun o => if Dec o then v else c o).
  exists c'. split.
  - intros o Ro. unfold c'. destruct (Dec o) as [->|N].
    + left. split; [exact Ah|exact V'].
    + destruct (Fn o Ro) as [[A W]|[A D]].
      * left. split; [exact A|]. eapply cost_later; [|reflexivity|exact W]. lia.
      * right. split; [exact A|]. rewrite launches_app, in_app_iff. destruct D as [D|[D Lo]]; [left; exact D|right].
        split; [left; exact D|exact Lo].
  - assert (Less : needs c' t + c h <= needs c s + v).
    { assert (Pt : forall o, of_related c' o <= of_related c o).
      { intros o. unfold of_related, c'. destruct (related o); [|apply le_n].
        destruct (Dec o) as [->|]; [exact Le|apply le_n]. }
      destruct Ah as [m E]. unfold needs. change (queues t) with (queues s).
      assert (Y := sum_less (of_related c') (of_related c) (h :: m) h (or_introl eq_refl) Pt).
      assert (X := sum_less (fun k => sum (map (of_related c') (waiting k)))
        (fun k => sum (map (of_related c) (waiting k))) (queues s) _ (nth_error_In _ _ E)
        (fun k => sum_le _ _ (waiting k) (fun o _ => Pt o))).
      simpl in X, Y.
      assert (Ch : of_related c' h = v) by (unfold of_related, c'; rewrite Rh; destruct (Dec h); congruence).
      assert (Ch' : of_related c h = c h) by (unfold of_related; rewrite Rh; reflexivity). lia. }
    rewrite launches_app. simpl. rewrite app_nil_r. simpl. lia.
Qed.

(* From the release on, time is covered by pauses of [d] in all, and by times in which something related is left: of each
   it was launched before such a time begins. *)
Inductive covered : nat -> list label -> state -> Prop :=
| From_release (d : nat) (xs : list label) (s : state) :
    steps g (empty g) xs s -> r <= now s -> now s <= r + d -> covered d xs s
| While_left (d : nat) (xs ys : list label) (u s : state) (p : operation) :
    covered d xs u -> steps g u ys s -> related p = true -> In p (launches xs) -> is_left s p -> covered d (xs ++ ys) s
| After_pause (d e : nat) (xs ys : list label) (u s : state) :
    covered d xs u -> steps g u ys s -> now s <= now u + e -> covered (d + e) (xs ++ ys) s.

Lemma fine_own xs s : steps g (empty g) xs s -> good xs -> fine own xs s.
Proof.
  revert xs s. apply (in_steps g (fun xs s => good xs -> fine own xs s)).
  - intros _ o _. right. split; [|left; reflexivity]. intros [m E]. simpl in E. apply nth_error_In, repeat_spec in E.
    discriminate E.
  - intros xs s x t H St IH G. assert (G0 := Prefix _ _ G). apply (fine_step own xs s x t H G0 St (IH G0)).
Qed.

Lemma many_steps u ys s : steps g u ys s -> forall xs, steps g (empty g) xs u ->
  steps g (empty g) (xs ++ ys) s /\ now u <= now s.
Proof.
  induction 1 as [s|s t v x ys St H IH]; intros xs Hu; [rewrite app_nil_r; split; [exact Hu|apply le_n]|].
  destruct (IH _ (one_more_step g _ _ _ _ _ Hu St)) as [A B]. rewrite <- app_assoc in A. split; [exact A|].
  assert (N := no_time_back g s x t St). lia.
Qed.
Lemma enough_along T K u ys s : steps g u ys s -> forall xs, steps g (empty g) xs u -> good (xs ++ ys) -> r <= now u ->
  enough_for T K xs u -> enough_for T K (xs ++ ys) s.
Proof.
  induction 1 as [s|s t v x ys St H IH]; intros xs Hu G L E; [rewrite app_nil_r; exact E|].
  change (x :: ys) with ([x] ++ ys) in *. rewrite app_assoc in *. assert (N := no_time_back g s x t St).
  apply IH; [apply (one_more_step g _ _ _ _ _ Hu St)|exact G|lia|].
  apply (enough_step T K xs s x t Hu (Prefix _ _ G) L St E).
Qed.
Lemma enough_while K u ys s p : related p = true -> steps g u ys s -> forall xs, steps g (empty g) xs u ->
  good (xs ++ ys) -> r <= now u -> In p (launches xs) -> is_left s p ->
  enough_for (now u) K xs u -> enough_for (now s) K (xs ++ ys) s.
Proof.
  intros Rp. induction 1 as [s|s t v x ys St H IH]; intros xs Hu G L I Lp E; [rewrite app_nil_r; exact E|].
  assert (Ls := left_since g xs (x :: ys) s v p Hu (Go g _ _ _ _ _ St H) I Lp).
  change (x :: ys) with ([x] ++ ys) in *. rewrite app_assoc in *. assert (N := no_time_back g s x t St).
  apply IH; [apply (one_more_step g _ _ _ _ _ Hu St)|exact G|lia| |exact Lp|].
  - rewrite launches_app, in_app_iff. left. exact I.
  - assert (Gx := Prefix _ _ G). destruct x as [o| | | | | | | |q];
      [..|apply (enough_in_time K xs s t q p Hu Gx L St Rp Ls E)];
      (replace (now t) with (now s) by (inversion St; reflexivity)); apply (enough_step _ K xs s _ t Hu Gx L St E).
Qed.

Lemma covered_enough d xs s : covered d xs s -> good xs ->
  steps g (empty g) xs s /\ r <= now s /\ enough_for (now s) (one * (r + d)) xs s.
Proof.
  induction 1 as [d xs s H L Le|d xs ys u s p _ IH H Rp I Lp|d e xs ys u s _ IH H Le]; intros G.
  - split; [exact H|]. split; [exact L|]. exists own. split; [apply (fine_own xs s H G)|].
    assert (Rw := remains_work g top P weight good All r counts Counts xs s H G L).
    assert (Ct := Counts xs s H G L). unfold total.
    assert (Q := queued_of_launches g (fun o => if counts o then of_related own o else 0) xs s H).
    assert (Nd : needs own s <= sum (map (fun k => sum (map (fun o => if counts o then of_related own o else 0) (waiting k)))
      (queues s))).
    { unfold needs. apply sum_le. intros k I. apply sum_le. intros o J. apply In_nth_error in I. destruct I as [q F].
      unfold of_related. destruct (related o) eqn:Ro; [|lia].
      rewrite (everywhere_queues _ s Ct q k o F J (Related_upper o Ro)). apply le_n. }
    assert (M : one * now s <= one * (r + d)) by (apply Nat.mul_le_mono_l, Le). lia.
  - destruct (IH (Prefix _ _ G)) as (Hu & L & E). destruct (many_steps u ys s H xs Hu) as [Hs N].
    split; [exact Hs|]. split; [lia|]. apply (enough_while _ u ys s p Rp H xs Hu G L I Lp E).
  - destruct (IH (Prefix _ _ G)) as (Hu & L & E). destruct (many_steps u ys s H xs Hu) as [Hs N].
    split; [exact Hs|]. split; [lia|].
    destruct (enough_along _ _ u ys s H xs Hu G L E) as (c & Fn & Z). exists c. split; [exact Fn|].
    assert (M : one * now s <= one * (now u + e)) by (apply Nat.mul_le_mono_l, Le). lia.
Qed.

(* Where an instant is passed. *)
Lemma crossing F u ys s : steps g u ys s -> now u <= F -> F < now s -> exists before x after v w,
  ys = before ++ x :: after /\ steps g u before v /\ step g v x w /\ steps g w after s /\ now v <= F /\ F < now w.
Proof.
  induction 1 as [s|s t v x ys St H IH]; intros L Lt; [lia|].
  destruct (Nat.le_gt_cases (now t) F) as [Lw|Gt].
  - destruct (IH Lw Lt) as (b & y & a & v' & w & E & A & B & D & Lv & Gw). exists (x :: b), y, a, v', w.
    split; [rewrite E; reflexivity|]. split; [eapply Go; eassumption|tauto].
  - exists [], x, ys, s, t. split; [reflexivity|]. split; [constructor|tauto].
Qed.

(* No time is covered by pauses of [D] beyond [F], if these and all that counts and is launched by [F] fit. *)
Theorem covered_by : forall D F, 0 < one ->
  (forall xs, good xs -> (forall o, In o (launches xs) -> launched_at o <= F) ->
    one * (r + D) + total (launches xs) <= one * F) ->
  forall d xs s, covered d xs s -> d <= D -> good xs -> now s <= F.
Proof.
  intros D F Pos Fits.
  assert (Cut : forall v, one * v <= one * F -> v <= F) by (intros v; apply Nat.mul_le_mono_pos_l, Pos).
  assert (By : forall xs u, steps g (empty g) xs u -> good xs -> now u <= F ->
    forall o, In o (launches xs) -> launched_at o <= F).
  { intros xs u H G L o I. assert (Q := sound_past _ _ _ _ (sound_run g P xs u H (fun o => All xs o G)) o I). lia. }
  induction 1 as [d xs s H L Le|d xs ys u s p Cu IH H Rp I Lp|d e xs ys u s Cu IH H Le]; intros Ld G.
  - assert (Q := Fits [] (Prefix [] xs G) ltac:(intros o [])). apply Cut.
    assert (M : one * now s <= one * (r + D)) by (apply Nat.mul_le_mono_l; lia). lia.
  - specialize (IH Ld (Prefix _ _ G)). destruct (covered_enough d xs u Cu (Prefix _ _ G)) as (Hu & _ & _).
    destruct (Nat.le_gt_cases (now s) F) as [Z|Gt]; [exact Z|exfalso].
    destruct (crossing F u ys s H IH Gt) as (b & x & a & v & w & E & Hb & St & Ha & Lv & Gw). subst ys.
    destruct (many_steps u b v Hb xs Hu) as [Hv _].
    assert (G' : good (xs ++ b ++ [x])).
    { apply (Prefix _ a). rewrite <- !app_assoc. exact G. }
    assert (Gv : good (xs ++ b)) by (apply (Prefix _ [x]); rewrite <- app_assoc; exact G').
    assert (Hw : steps g u (b ++ [x]) w) by (eapply one_more_step; eassumption).
    destruct (many_steps u (b ++ [x]) w Hw xs Hu) as [Hw' _].
    assert (Lw : is_left w p).
    { apply (left_since g (xs ++ b ++ [x]) a w s p Hw' Ha); [|exact Lp]. rewrite launches_app, in_app_iff. left. exact I. }
    assert (Cw := While_left d xs (b ++ [x]) u w p Cu Hw Rp I Lw).
    destruct (covered_enough _ _ _ Cw G') as (_ & _ & (c & _ & Z)).
    assert (Q := Fits _ G'). enough (now w <= F) by lia. apply Cut.
    assert (M : one * (r + d) <= one * (r + D)) by (apply Nat.mul_le_mono_l; lia).
    enough (one * (r + D) + total (launches (xs ++ b ++ [x])) <= one * F) by lia. apply Q. intros o J.
    rewrite app_assoc, launches_app, in_app_iff in J. destruct J as [J|J]; [apply (By _ v Hv Gv Lv o J)|].
    simpl in J. rewrite app_nil_r in J. destruct (launched_now g v x w o St J) as (_ & -> & _). exact Lv.
  - specialize (IH ltac:(lia) (Prefix _ _ G)).
    destruct (covered_enough d xs u Cu (Prefix _ _ G)) as (Hu & _ & (c & _ & Z)).
    assert (Q := Fits xs (Prefix _ _ G) (By xs u Hu (Prefix _ _ G) IH)). apply Cut.
    assert (M : one * now s <= one * (now u + e)) by (apply Nat.mul_le_mono_l, Le).
    assert (M' : one * (r + (d + e)) <= one * (r + D)) by (apply Nat.mul_le_mono_l; lia). lia.
Qed.
End Others.
