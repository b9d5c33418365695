(* Where kernels share the GPU and releases are not given: each stream has a bound on its responses, and of what was
   launched before a stream has work only what may be left by these bounds counts. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy waits shared sharing.

Section Carried.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Local Notation level_of := (level_of g top).

(* What remains is of what was launched. *)
Lemma remains_of_launches w xs s : steps g (empty g) xs s -> (forall o, In o (launches xs) -> P o) ->
  remains g top w s <= sum (map (of_upper g top (work_of w)) (launches xs)).
Proof.
  intros H. revert xs s H. apply (in_steps g (fun xs s => (forall o, In o (launches xs) -> P o) ->
    remains g top w s <= sum (map (of_upper g top (work_of w)) (launches xs)))).
  - intros _. rewrite (nothing_remains g top w) by apply everywhere_empty. apply Nat.le_0_l.
  - intros xs s x t St H IH Ps. rewrite launches_app in *. simpl in *. rewrite app_nil_r in *.
    rewrite map_app, sum_app. assert (Px : forall o, In o (launches xs) -> P o) by (intros o I; apply Ps, in_app_iff; tauto).
    specialize (IH Px). assert (S := sound_run g P xs s St Px).
    destruct x; try (assert (R := remains_step g top w s _ t (sound_order _ _ _ _ S) H ltac:(discriminate)); lia).
    simpl. inversion H; subst. match goal with E : forall r, In r (running s) -> t0 <= ends r |- _ =>
      assert (Done := work_of_time g top w (running s) (now s) t0 ltac:(lia) E) end.
    assert (Pos := Nat.le_0_l ((t0 - now s) * weighs g top w (running s))). unfold remains in *. simpl in *. lia.
Qed.

(* Operations that are left weigh the same. *)
Lemma same_remains w w' s : everywhere (fun o => upper o = true -> w o = w' o) s -> remains g top w s = remains g top w' s.
Proof.
  intros [Q E CE R]. assert (W : forall o, (upper o = true -> w o = w' o) ->
    of_upper g top (work_of w) o = of_upper g top (work_of w') o /\
    of_upper g top (each w) o = of_upper g top (each w') o /\ of_upper g top w o = of_upper g top w' o).
  { intros o H. unfold of_upper, work_of, each. destruct (upper o); [|repeat split; reflexivity]. rewrite (H eq_refl).
    repeat split; reflexivity. }
  unfold remains. f_equal; [f_equal; [f_equal|]|].
  - f_equal. apply map_ext_in. intros k I. apply In_nth_error in I. destruct I as [p F]. unfold queued. f_equal.
    apply map_ext_in. intros o J. apply W. apply (Q p k o F). destruct (gone_on k); [|exact J].
    destruct (waiting k); [exact J|right; exact J].
  - f_equal. apply map_ext_in. intros k I. apply In_nth_error in I. destruct I as [p F]. unfold in_ee. f_equal.
    apply map_ext_in. intros x J. f_equal. apply W, (E p k x F J).
  - f_equal. apply map_ext_in. intros k I. apply In_nth_error in I. destruct I as [p F]. unfold in_ce. f_equal.
    apply map_ext_in. intros o J. apply W, (CE p k o F J).
  - f_equal. apply map_ext_in. intros r I. unfold left_of. f_equal. apply W, (R r I).
Qed.

Variables (weight : operation -> nat) (one : nat).
Hypothesis Heavy : heavy g top P weight one.
Hypothesis Positive : 0 < one.
(* By how long after its launch each operation of a stream is over. *)
Variable response : nat -> nat.
Definition in_time (s : state) : Prop :=
  everywhere (fun o => upper o = true -> now s <= launched_at o + response (stream o)) s.

(* From [x] on, when a stream has nothing left: what may be left of others then by the responses, or is launched later;
   and the stream's own time. *)
Definition counts (q x : nat) (o : operation) : bool :=
  if stream o =? q then x <=? launched_at o else x <=? launched_at o + response (stream o).
Definition carried (q x : nat) (l : list operation) : nat :=
  sum (map (fun o => if counts q x o then of_upper g top (work_of weight) o else 0) l).
Definition own_time (q x : nat) (l : list operation) : nat :=
  sum (map (fun o => if (stream o =? q) && (x <=? launched_at o) then takes_time top blocks o else 0) l).
(* A stream has nothing left, or it has been busy since a launch of its at [x], for no longer than a response. *)
Definition chain (before : list operation) (s : state) (q : nat) : Prop :=
  everywhere (fun o => stream o <> q) s \/
  exists x v, (exists o, In o before /\ stream o = q /\ launched_at o = x) /\ now s <= x + response q /\
    everywhere (fun o => stream o = q -> x <= launched_at o) s /\ head_within g top q s v /\
    one * (now s + v + ahead top blocks q s) + remains g top weight s <=
      one * (x + own_time q x before) + carried q x before.

(* Of some streams the responses may be known already. *)
Theorem responses_hold : forall (good : list operation -> Prop) (known : nat -> bool),
  (forall l k, good (l ++ k) -> good l) -> (forall l o, good l -> In o l -> P o) ->
  (forall q, level_of q < top -> alone g top P weight one q) ->
  (forall q, known q = true -> forall xs s, steps g (empty g) xs s -> good (launches xs) ->
    everywhere (fun o => stream o = q -> now s <= launched_at o + response q) s) ->
  (forall l o, good l -> In o l -> upper o = true -> known (stream o) = false ->
    (forall z, In z l -> launched_at z <= launched_at o + response (stream o)) ->
    one * own_time (stream o) (launched_at o) l + carried (stream o) (launched_at o) l <= one * response (stream o)) ->
  forall xs s, steps g (empty g) xs s -> good (launches xs) -> in_time s.
Proof.
  intros good known Prefix Ps Alone Known Served.
  enough (Z : forall xs s, steps g (empty g) xs s -> good (launches xs) ->
    in_time s /\ forall q, level_of q < top -> known q = false -> chain (launches xs) s q)
    by (intros xs s H G; apply (Z xs s H G)).
  apply (in_steps g (fun xs s => good (launches xs) ->
    in_time s /\ forall q, level_of q < top -> known q = false -> chain (launches xs) s q)).
  { intros _. split; [apply everywhere_empty|]. intros q _ _. left. apply everywhere_empty. }
  intros xs s x t St H IH G. assert (St' := one_more_step g _ _ _ _ _ St H).
  rewrite launches_app in *. simpl in *. rewrite app_nil_r in *.
  assert (G0 := Prefix _ _ G). destruct (IH G0) as [In_time Chains]. clear IH.
  assert (S := sound_run g P xs s St (fun o => Ps _ o G0)). assert (S' := S). destruct S' as [U K O Ev B _].
  assert (N := no_time_back g s x t H).
  assert (Own : forall q y l k, own_time q y (l ++ k) = own_time q y l + own_time q y k)
    by (intros; unfold own_time; rewrite map_app, sum_app; reflexivity).
  assert (Car : forall q y l k, carried q y (l ++ k) = carried q y l + carried q y k)
    by (intros; unfold carried; rewrite map_app, sum_app; reflexivity).
  assert (Restart : forall q, level_of q < top -> everywhere (fun o => stream o <> q) s ->
    chain (launches xs ++ launch x) t q).
  { intros q Lq E. destruct x as [o|o|o d|o i d|o p| | | |u];
        try (left; apply (everywhere_step _ g s _ _ E H); discriminate).
      destruct (Nat.eq_dec (stream o) q) as [Sq|Sq].
      2: { left. apply (everywhere_step _ g s _ _ E H). intros p Q. injection Q as <-. exact Sq. }
      destruct (launched_now g s _ t o H (or_introl eq_refl)) as (_ & At & Nt).
      assert (Qb : exists b, nth_error (queues s) q = Some (Queue b []) /\ nth_error (queues t) q = Some (Queue b [o])).
      { rewrite <- Sq. assert (E' : forall b h m, nth_error (queues s) (stream o) = Some (Queue b (h :: m)) -> False).
        { intros b h m F. destruct (everywhere_queues _ s E _ _ h F (or_introl eq_refl)). rewrite <- Sq.
          apply (kept_queue K _ _ h F (or_introl eq_refl)). }
        clear - H E'. inversion H; subst. exists b. simpl.
        match goal with Q : nth_error (queues s) _ = Some (Queue b ?l) |- _ =>
          destruct l as [|h m]; [|destruct (E' _ _ _ Q)]; split; [exact Q|apply (update_same _ _ _ _ Q)] end. }
      destruct Qb as (b & Qs & Qt). assert (Fresh : b = false).
      { destruct b; [|reflexivity]. destruct (order_gone g s O _ _ Qs eq_refl eq_refl). }
      subst b. right. exists (now s), 0. simpl. split; [exists o; rewrite in_app_iff; simpl; tauto|].
      split; [lia|split; [|split]].
      + eapply everywhere_step; [|exact H|].
        * eapply everywhere_weaker; [|exact E]. simpl. intros p A A'. destruct (A A').
        * intros p Q _. injection Q as <-. lia.
      + intros p m F. rewrite Qt in F. discriminate F.
      + assert (Rs : remains g top weight s <= carried q (now s) (launches xs)).
        { set (w := fun p => if counts q (now s) p then weight p else 0).
          rewrite (same_remains weight w).
          - eapply Nat.le_trans; [apply (remains_of_launches w xs s St (fun o => Ps _ o G0))|]. unfold carried.
            apply sum_le. intros p _. unfold w, of_upper, work_of, each.
            destruct (counts q (now s) p), (upper p), (what p); lia.
          - assert (W : forall p, (upper p = true -> now s <= launched_at p + response (stream p)) -> stream p <> q ->
              upper p = true -> weight p = w p).
            { intros p A Np Up. specialize (A Up). unfold w, counts. rewrite (proj2 (Nat.eqb_neq _ _) Np).
              destruct (Nat.leb_spec (now s) (launched_at p + response (stream p))); [reflexivity|lia]. }
            destruct In_time as [I1 I2 I3 I4], E as [E1 E2 E3 E4]. split; intros; apply W; eauto. }
        assert (Rt := remains_step g top weight s _ t O H ltac:(discriminate)). simpl in Rt.
        rewrite Own, Car. unfold own_time at 2, carried at 2, counts. simpl. rewrite Sq, Nat.eqb_refl, At.
        destruct (Nat.leb_spec (now s) (now s)); [|lia]. simpl.
        assert (At_q : ahead top blocks q t <= takes_time top blocks o).
        { unfold ahead. rewrite Qt. simpl. lia. }
        rewrite Nt. assert (M : one * ahead top blocks q t <= one * takes_time top blocks o)
          by (apply Nat.mul_le_mono_l, At_q). nia. }
  assert (Chains' : forall q, level_of q < top -> known q = false -> chain (launches xs ++ launch x) t q).
  { intros q Lq Kq. destruct (Chains q Lq Kq) as [E|(y & v & Ex & In_R & Ey & V & Z)]; [apply (Restart q Lq E)|].
    assert (Early : y <= now s) by (destruct Ex as (o & Io & _ & <-); apply B, Io).
    destruct x as [p|p|p d|p i d|p e| | | |u].
    9: { simpl. rewrite app_nil_r. inversion H; subst.
      match goal with E : forall r, In r (running s) -> u <= ends r |- _ => rename E into Ends end.
      destruct (head_in_time g top blocks P C weight one Heavy q (Alone q Lq) s u v U K O Ev) as [E|E];
        try assumption; [left; apply (everywhere_step _ g s _ _ E H); discriminate|].
      destruct (E _ eq_refl) as (v' & W & Z'). right. exists y, v'. split; [exact Ex|].
      split; [|split; [|split; [exact W|simpl in *; lia]]].
      - destruct Ex as (o & Io & So & Lo). simpl in G. rewrite app_nil_r in G.
        assert (Sv := Served _ o G0 Io ltac:(unfold serial.upper; apply Nat.ltb_lt; rewrite So; exact Lq)).
        rewrite So, Lo in Sv. specialize (Sv Kq ltac:(intros z Iz; specialize (B z Iz); lia)). simpl in *.
        assert (M : one * u <= one * (y + response q)) by nia. apply Nat.mul_le_mono_pos_l in M; assumption.
      - apply (everywhere_step _ g s _ _ Ey H). discriminate. }
    all: assert (Rt := remains_step g top weight s _ t O H ltac:(discriminate));
      destruct (head_step g top blocks P C weight one q (Alone q Lq) s _ t v U K O Ev H ltac:(discriminate) V)
        as (v' & W & Z');
      assert (Now : now t = now s) by (inversion H; reflexivity);
      right; exists y, v'; (split;
        [destruct Ex as (o & Io & So & Lo); exists o; rewrite in_app_iff; tauto|]); (split; [lia|]);
      (split; [|split; [exact W|]]).
    all: try (apply (everywhere_step _ g s _ _ Ey H); discriminate).
    all: rewrite ?Own, ?Car, ?Now.
    1: { eapply everywhere_step; [exact Ey|exact H|]. intros z Q _. injection Q as <-.
      destruct (launched_now g s _ t p H (or_introl eq_refl)) as (_ & -> & _). exact Early. }
    1: { destruct (launched_now g s _ t p H (or_introl eq_refl)) as (_ & At & _).
      simpl in Rt, Z'. unfold own_time at 2, carried at 2, counts. simpl. rewrite At.
      destruct (Nat.leb_spec y (now s)); [|lia]. destruct (Nat.leb_spec y (now s + response (stream p))); [|lia].
      rewrite andb_true_r. assert (M : one * (v' + ahead top blocks q t) <= one * (v + ahead top blocks q s +
        (if stream p =? q then takes_time top blocks p else 0))) by (apply Nat.mul_le_mono_l; lia).
      destruct (stream p =? q); lia. }
    all: simpl in Rt, Z' |- *; unfold own_time at 2, carried at 2; simpl;
      assert (M : one * (v' + ahead top blocks q t) <= one * (v + ahead top blocks q s))
        by (apply Nat.mul_le_mono_l; lia); lia. }
  split; [|exact Chains']. clear Chains.
  (* Who is left is in time. *)
  assert (All : forall o, (forall A : operation -> Prop, everywhere A t -> A o) -> upper o = true ->
    now t <= launched_at o + response (stream o)).
  { intros o E Up. destruct (known (stream o)) eqn:Ko.
    2: { assert (Lq : level_of (stream o) < top) by (apply Nat.ltb_lt, Up).
      destruct (Chains' _ Lq Ko) as [Q|(y & v & _ & In_R & Ey & _)]; [destruct (E _ Q eq_refl)|].
      specialize (E _ Ey eq_refl). simpl in E. lia. }
    assert (Kt := Known _ Ko _ _ St'). rewrite launches_app in Kt. simpl in Kt. rewrite app_nil_r in Kt.
    apply (E _ (Kt G) eq_refl). }
  split; [intros q k o F I|intros l k z F I|intros e k o F I|intros r I]; apply All; intros D [D1 D2 D3 D4]; eauto.
Qed.
End Carried.
