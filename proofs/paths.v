(* Jobs that are graphs: what an operation waits for is before it in its stream, in the NULL stream or those that this is
   coupled with, a record, or what its host waited for. No operation is over later than the longest path to it, with
   what keeps heads out meanwhile, allows. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy closed waits shared carried heads.

(* What an operation may have to wait for: an earlier one in its stream (G2); N1, N2; E2. *)
Definition may_wait (g : device) (o p : operation) : bool :=
  (number p <? number o) &&
  ((stream p =? stream o)
   || (stream o =? 0) && blocking_of g (stream p)
   || negb (stream o =? 0) && blocking_of g (stream o) && (stream p =? 0)
   || match what o with Wait (Some r) => number p =? r | _ => false end).
(* It was launched and is not over. *)
Definition is_left (s : state) (p : operation) : Prop :=
  exists k, nth_error (queues s) (stream p) = Some k /\ In p (waiting k).

Lemma blocking_is g q : is_blocking g q -> blocking_of g q = true.
Proof. intros [l E]. unfold blocking_of. rewrite E. reflexivity. Qed.
Lemma is_blocking_of g q : blocking_of g q = true -> is_blocking g q.
Proof.
  unfold blocking_of. destruct (nth_error (streams g) q) as [[l b]|] eqn:E; [|discriminate]. simpl. intros ->.
  exists l. exact E.
Qed.

(* What goes on waits for nothing. *)
Lemma ready_waits_for_nothing g s q o rest p : kept g s -> in_order g s -> ready g s q o rest -> is_left s p ->
  may_wait g o p = false.
Proof.
  intros K O (F & R1 & R2 & R3) (k & G & I). destruct (may_wait g o p) eqn:W; [exfalso|reflexivity].
  unfold may_wait in W. rewrite andb_true_iff, Nat.ltb_lt in W. destruct W as [Lt W].
  assert (Sq := kept_queue K q _ o F (or_introl eq_refl)).
  assert (Head : exists h, head_of s (stream p) h /\ number h <= number p).
  { destruct k as [b [|h m]]; [destruct I|]. exists h. split; [exists b, m; exact G|].
    destruct I as [->|I]; [apply le_n|]. apply Nat.lt_le_incl, (proj1 (order_ascending g s O _ _ G)), I. }
  destruct Head as (h & Hh & Le). rewrite !orb_true_iff, !andb_true_iff, negb_true_iff in W.
  destruct W as [[[W|[Z W]]|[[Z W] Y]]|W].
  - apply Nat.eqb_eq in W. destruct Hh as (b & m & Hh). rewrite W, Sq, F in Hh. injection Hh as _ <- _. lia.
  - apply Nat.eqb_eq in Z. destruct (Nat.eq_dec (stream p) 0) as [Y|Y].
    + destruct Hh as (b & m & Hh). rewrite Y in Hh. rewrite <- Z, Sq, F in Hh. injection Hh as _ <- _. lia.
    + assert (X := R1 ltac:(congruence) (stream p) Y (is_blocking_of _ _ W) h Hh). lia.
  - apply Nat.eqb_neq in Z. apply Nat.eqb_eq in Y. rewrite Y in Hh. rewrite Sq in W, Z.
    assert (X := R2 Z (is_blocking_of _ _ W) h Hh). lia.
  - destruct (what o) as [| | |[r|]] eqn:E; try discriminate W. apply Nat.eqb_eq in W.
    apply (R3 r E _ _ _ G I W).
Qed.

(* What has not gone on waits for something, once all went on that is ready. *)
Lemma waits_for_something g s o : kept g s -> in_order g s -> all_went_on g s ->
  (forall r, what o = Wait (Some r) -> r < number o) -> is_left s o ->
  at_head s o \/ exists p, is_left s p /\ may_wait g o p = true.
Proof.
  intros K O W Past (k & F & I).
  destruct (existsb (fun k => existsb (may_wait g o) (waiting k)) (queues s)) eqn:X.
  { right. apply existsb_exists in X. destruct X as (k' & J & X). apply existsb_exists in X. destruct X as (p & J' & X).
    apply In_nth_error in J. destruct J as [q G]. exists p. split; [|exact X]. exists k'.
    rewrite (kept_queue K q k' p G J'). tauto. }
  assert (None : forall q k' p, nth_error (queues s) q = Some k' -> In p (waiting k') -> may_wait g o p = false).
  { intros q k' p G J. destruct (may_wait g o p) eqn:Y; [|reflexivity].
    assert (Z : existsb (fun k => existsb (may_wait g o) (waiting k)) (queues s) = true); [|congruence].
    apply existsb_exists. exists k'. split; [apply (nth_error_In _ _ G)|]. apply existsb_exists. exists p. tauto. }
  clear X. destruct k as [b [|h rest]]; [destruct I|]. simpl in I. destruct I as [->|I].
  2: { exfalso. assert (Lt := proj1 (order_ascending g s O _ _ F) o I). simpl in Lt.
    specialize (None _ _ h F (or_introl eq_refl)). unfold may_wait in None.
    rewrite (proj2 (Nat.ltb_lt _ _) Lt), (kept_queue K _ _ h F (or_introl eq_refl)), Nat.eqb_refl in None.
    discriminate None. }
  destruct b; [left; exists rest; exact F|]. exfalso. apply (W (stream o) o rest). split; [exact F|].
  assert (Later : forall other b m h, nth_error (queues s) other = Some (Queue b (h :: m)) -> other <> stream o ->
    (number h <? number o = true -> False) -> number o < number h).
  { intros other b m h G Y Z. destruct (Nat.lt_trichotomy (number o) (number h)) as [X|[X|X]]; [exact X| |].
    - exfalso. apply Y. symmetry. eapply (order_apart g s O); [exact F|left; reflexivity|exact G|left; reflexivity|exact X].
    - destruct (Z (proj2 (Nat.ltb_lt _ _) X)). }
  split; [|split].
  - intros Z other Y Bl h (b' & m & G). apply (Later _ _ _ _ G); [congruence|]. intros Lt.
    specialize (None _ _ h G (or_introl eq_refl)). unfold may_wait in None.
    rewrite Lt, Z, (kept_queue K _ _ h G (or_introl eq_refl)), (blocking_is _ _ Bl) in None. simpl in None.
    rewrite orb_true_r in None. discriminate None.
  - intros Z Bl h (b' & m & G). apply (Later _ _ _ _ G); [congruence|]. intros Lt.
    specialize (None _ _ h G (or_introl eq_refl)). unfold may_wait in None.
    rewrite Lt, (kept_queue K _ _ h G (or_introl eq_refl)), (blocking_is _ _ Bl), (proj2 (Nat.eqb_neq _ _) Z) in None.
    simpl in None. rewrite orb_true_r in None. discriminate None.
  - intros r E q' k' p G J Z. specialize (None _ _ p G J). unfold may_wait in None. specialize (Past r E). subst r.
    rewrite E, (proj2 (Nat.ltb_lt _ _) Past), Nat.eqb_refl, orb_true_r in None. discriminate None.
Qed.

(* What is left of one state after a step was left before it, or is launched by it. *)
Lemma left_before g s x t o : kept g s -> step g s x t -> is_left t o -> is_left s o \/ x = Launch o.
Proof.
  intros K H (k & F & I).
  destruct H; simpl in F;
    try match goal with Z : first_ready _ _ _ _ _ |- _ => destruct Z as [[F0 _] _] end;
    try (left; exists k; tauto);
    destruct (update_cases _ _ _ _ _ F) as [[E ->]|[_ F']]; try (left; exists k; tauto); simpl in I.
  - left. eexists. rewrite <- E. split; [exact H5|right; exact I].
  - apply in_app_iff in I. destruct I as [I|[->|[]]]; [left|right; reflexivity]. eexists. rewrite <- E.
    split; [exact H4|exact I].
  - left. eexists. rewrite <- E. split; [exact F0|exact I].
  - left. eexists. rewrite <- E. split; [exact F0|exact I].
  - left. eexists. rewrite <- E. split; [exact F0|right; exact I].
Qed.
(* What has gone on after it had before, or goes on by it. *)
Lemma at_head_before g s x t o : in_order g s -> step g s x t -> at_head t o -> at_head s o \/ x = GoOn o.
Proof.
  intros O H [m F].
  destruct H; simpl in F;
    try match goal with Z : first_ready _ _ _ _ _ |- _ => destruct Z as [[F0 _] _] end;
    try (left; exists m; exact F);
    destruct (update_cases _ _ _ _ _ F) as [[E Q]|[_ F']]; try (left; exists m; exact F'); try discriminate Q.
  - injection Q as <- Q. assert (G := order_gone g s O _ _ H4 eq_refl). simpl in G.
    destruct before as [|h before]; [congruence|]. injection Q as -> _. left. exists before. rewrite <- E. exact H4.
  - injection Q as -> _. right. reflexivity.
  - injection Q as -> _. right. reflexivity.
Qed.

Lemma everywhere_left Q s o : everywhere Q s -> is_left s o -> Q o.
Proof. intros [A _ _ _] (k & F & I). apply (A _ _ _ F I). Qed.
Lemma left_is_launched g xs s o : steps g (empty g) xs s -> is_left s o -> In o (launches xs) /\ launched_at o <= now s.
Proof.
  intros H L. apply (everywhere_left (fun o => In o (launches xs) /\ launched_at o <= now s) s o); [|exact L].
  clear L. revert xs s H.
  apply (in_steps g (fun xs s => everywhere (fun o => In o (launches xs) /\ launched_at o <= now s) s)).
  - apply everywhere_empty.
  - intros xs s x t _ H E. assert (N := no_time_back g s x t H). eapply everywhere_step; [|exact H|].
    + eapply everywhere_weaker; [|exact E]. simpl. intros p [I Le]. rewrite launches_app, in_app_iff. split; [tauto|lia].
    + intros p ->. destruct (launched_now g s _ t p H (or_introl eq_refl)) as (_ & At & Nt).
      rewrite launches_app, in_app_iff. simpl. split; [tauto|lia].
Qed.

(* What upper operations wait for is upper. *)
Lemma waited_upper g top blocks P : closed g top blocks P -> forall o p, P o -> P p -> upper g top o = true ->
  may_wait g o p = true -> upper g top p = true.
Proof.
  intros C o p Po Pp Uo W. unfold may_wait in W. rewrite andb_true_iff, !orb_true_iff, !andb_true_iff, negb_true_iff in W.
  destruct W as [_ [[[W|[Z W]]|[[Z W] Y]]|W]].
  - apply Nat.eqb_eq in W. unfold serial.upper in *. rewrite W. exact Uo.
  - apply (closed_null _ _ _ _ C o p Po Pp Uo). left. apply Nat.eqb_eq in Z. split; [exact Z|apply is_blocking_of, W].
  - apply (closed_null _ _ _ _ C o p Po Pp Uo). right. apply Nat.eqb_neq in Z. apply Nat.eqb_eq in Y.
    split; [exact Z|]. split; [apply is_blocking_of, W|exact Y].
  - destruct (what o) as [| | |[m|]] eqn:E; try discriminate W. apply (closed_wait _ _ _ _ C o p m Po Pp Uo E).
Qed.

(* Whatever is in a queue or runs is left. *)
Lemma what_is_left g (Q : operation -> Prop) s : kept g s -> (forall o, is_left s o -> Q o) -> everywhere Q s.
Proof.
  intros K A. assert (Hd : forall o, at_head s o -> Q o).
  { intros o [m E]. apply A. exists (Queue true (o :: m)). split; [exact E|left; reflexivity]. }
  split.
  - intros q k o E I. apply A. exists k. rewrite (kept_queue K q k o E I). tauto.
  - intros l k y E I. apply Hd, (queues.kept_ee g s K l k y E I).
  - intros e k o E I. apply Hd, (kept_ce K e k o E I).
  - intros b I. apply Hd, (kept_running K b I).
Qed.

(* The last step of a run. *)
Lemma last_step g a xs x c : steps g a (xs ++ [x]) c -> exists b, steps g a xs b /\ step g b x c.
Proof.
  revert a. induction xs as [|y xs IH]; intros a H; simpl in H; inversion H; subst.
  - match goal with E : steps g _ [] _ |- _ => inversion E; subst end. exists a. split; [constructor|assumption].
  - match goal with E : steps g _ (xs ++ [x]) _ |- _ => destruct (IH _ E) as (b & Hb & St) end. exists b.
    split; [eapply Go; eassumption|exact St].
Qed.

Section Paths.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Local Notation of_upper := (of_upper g top).
Variables (weight : operation -> nat) (one : nat).
Hypothesis Heavy : heavy g top P weight one.
Local Notation remains := (remains g top weight).
Local Notation own := (own top blocks weight one).
Local Notation within_cost := (within_cost g top weight one).

(* Runs of some kind. *)
Variable good : list label -> Prop.
Hypothesis Prefix : forall l k, good (l ++ k) -> good l.
Hypothesis All : forall xs o, good xs -> In o (launches xs) -> P o.
(* A job that is released at [r]: its operations. *)
Variables (mine : operation -> bool) (r : nat).
Hypothesis Mine_upper : forall o, mine o = true -> upper o = true.
Hypothesis Mine_since : forall o, mine o = true -> P o -> r <= launched_at o.
Hypothesis Mine_copies : forall o p e l m, mine o = true -> P o -> P p -> what o = Copy e l -> what p = Copy e m ->
  one <= weight p.
(* Whatever is left when the job is released, or launched later, counts. *)
Variable counts : operation -> bool.
Hypothesis Counts : forall xs s, steps g (empty g) xs s -> good xs -> r <= now s ->
  everywhere (fun o => upper o = true -> counts o = true) s.
(* The longest path to the end of each operation, from the release on: what it waits for in queues is of the job; and it
   is launched no later than a pause after the release, or after an operation of the job is over: that is still left at
   some point of the run, no earlier than the pause before the launch. *)
Variable path : operation -> nat.
Hypothesis Waits : forall o p, mine o = true -> P o -> P p -> counts p = true -> may_wait g o p = true ->
  mine p = true /\ path p + own o <= path o.
Hypothesis Hosts : forall xs s o t, steps g (empty g) xs s -> step g s (Launch o) t -> good (xs ++ [Launch o]) ->
  mine o = true -> exists pause,
  (launched_at o <= r + pause /\ one * pause + own o <= path o) \/
  exists before u since p, xs = before ++ since /\ steps g (empty g) before u /\ steps g u since s /\ is_left u p /\
    mine p = true /\ launched_at o <= now u + pause /\ path p + one * pause + own o <= path o.

(* The work that counts, of what was launched so far. *)
Definition work (l : list operation) : nat :=
  sum (map (fun o => if counts o then of_upper (work_of weight) o else 0) l).
Definition in_time (xs : list label) (s : state) : Prop := forall o, mine o = true -> is_left s o ->
  at_head s o /\ (exists c, within_cost s o c /\
    one * now s + c + remains s <= one * r + path o + work (launches xs)) \/
  ~ at_head s o /\ one * now s + own o + remains s <= one * r + path o + work (launches xs).

Lemma work_app l k : work (l ++ k) = work l + work k.
Proof. unfold work. rewrite map_app, sum_app. reflexivity. Qed.

Lemma remains_work xs s : steps g (empty g) xs s -> good xs -> r <= now s -> remains s <= work (launches xs).
Proof.
  intros H G L. assert (E := Counts xs s H G L).
  set (w := fun p => if counts p then weight p else 0).
  rewrite (same_remains g top weight w).
  - eapply Nat.le_trans; [apply (remains_of_launches g top P w xs s H (fun o => All xs o G))|]. unfold work.
    apply sum_le. intros p _. unfold w, serial.of_upper, work_of, each. destruct (counts p), (upper p), (what p); lia.
  - eapply everywhere_weaker; [|exact E]. simpl. intros p A Up. unfold w. rewrite (A Up). reflexivity.
Qed.

(* The work that remains grows by no more than what is launched. *)
Lemma remains_grows xs s x t : steps g (empty g) xs s -> step g s x t -> good (xs ++ [x]) -> r <= now s ->
  remains t + work (launches xs) <= remains s + work (launches (xs ++ [x])).
Proof.
  intros H St G L. assert (S := sound_run g P xs s H (fun o => All xs o (Prefix _ _ G))).
  rewrite launches_app, work_app. simpl. rewrite app_nil_r.
  destruct x as [o| | | | | | | |u].
  9: { simpl. inversion St; subst. match goal with E : forall r, In r (running s) -> u <= ends r |- _ =>
      assert (Done := work_of_time g top weight (running s) (now s) u ltac:(lia) E) end.
    assert (Pos := Nat.le_0_l ((u - now s) * weighs g top weight (running s))). unfold shared.remains in *. simpl in *.
    lia. }
  all: assert (R := remains_step g top weight s _ t (sound_order _ _ _ _ S) St ltac:(discriminate)); simpl in R.
  2-8: simpl; lia.
  enough (sum (map (of_upper (work_of weight)) [o]) <= work [o]) by (simpl launch; simpl in *; lia).
  unfold work. simpl. destruct (counts o) eqn:Co; [lia|]. unfold serial.of_upper.
  destruct (upper o) eqn:Up; [exfalso|lia].
  destruct (launched_now g s _ t o St (or_introl eq_refl)) as (_ & _ & Nt).
  assert (E := Counts _ t (one_more_step g _ _ _ _ _ H St) G ltac:(lia)).
  assert (Z : is_left t o).
  { inversion St; subst. match goal with F : nth_error (queues s) _ = Some (Queue b before) |- _ =>
      exists (Queue b (before ++ [o])); simpl; split; [apply (update_same _ _ _ _ F)|apply in_elt] end. }
  assert (Y := everywhere_left _ t o E Z Up). congruence.
Qed.
Lemma remains_along u since s : steps g u since s -> forall before, steps g (empty g) before u ->
  good (before ++ since) -> r <= now u ->
  remains s + work (launches before) <= remains u + work (launches (before ++ since)).
Proof.
  induction 1 as [s|s t u x xs St H IH]; intros before Sb G L; [rewrite app_nil_r; lia|].
  assert (N := no_time_back g s x t St).
  change (x :: xs) with ([x] ++ xs) in G |- *. rewrite app_assoc in G |- *.
  assert (A := remains_grows before s x t Sb St (Prefix _ _ G) L).
  specialize (IH (before ++ [x]) (one_more_step g _ _ _ _ _ Sb St) G ltac:(lia)). lia.
Qed.

Lemma so_far xs s o : in_time xs s -> mine o = true -> is_left s o ->
  one * now s + remains s <= one * r + path o + work (launches xs).
Proof. intros T M L. destruct (T o M L) as [[_ (c & _ & Z)]|[_ Z]]; lia. Qed.

(* What an operation of the job waits for is of the job. *)
Lemma waits_for_mine xs s o p : steps g (empty g) xs s -> good xs -> mine o = true -> is_left s o -> is_left s p ->
  may_wait g o p = true -> mine p = true /\ path p + own o <= path o.
Proof.
  intros H G M Lo Lp W. destruct (left_is_launched g xs s o H Lo) as [Io No].
  destruct (left_is_launched g xs s p H Lp) as [Ip _].
  assert (Up := waited_upper g top blocks P C o p (All _ _ G Io) (All _ _ G Ip) (Mine_upper o M) W).
  apply Waits; [exact M|apply (All _ _ G Io)|apply (All _ _ G Ip)| |exact W].
  apply (everywhere_left _ s p (Counts xs s H G (Nat.le_trans _ _ _ (Mine_since o M (All _ _ G Io)) No)) Lp Up).
Qed.

Lemma at_head_dec s o : at_head s o \/ ~ at_head s o.
Proof.
  destruct (nth_error (queues s) (stream o)) as [[[|] [|h m]]|] eqn:F;
    try (right; intros [l E]; rewrite F in E; discriminate E).
  assert (D : {h = o} + {h <> o}) by repeat decide equality. destruct D as [->|N]; [left; exists m; exact F|right].
  intros [l E]. rewrite F in E. congruence.
Qed.

(* What has gone on and is still left has still gone on. *)
Lemma stays_at_head s x t o : in_order g s -> step g s x t -> at_head s o -> is_left t o -> at_head t o.
Proof.
  intros O H [m F] (k & G & I).
  destruct H; simpl in *;
    try match goal with Z : first_ready _ _ _ _ _ |- _ => destruct Z as [[F0 _] _] end;
    try (exists m; exact F);
    destruct (update_cases _ _ _ _ _ G) as [[E ->]|[N G']]; try congruence;
    try (exists m; simpl; rewrite update_other by exact N; exact F).
  - exfalso. rewrite E, F in H5. injection H5 as -> ->. assert (Z := proj1 (order_ascending g s O _ _ F) _ I). lia.
  - rewrite E, F in H4. injection H4 as <- <-. exists (m ++ [o0]). simpl. rewrite E. apply (update_same _ _ _ _ F).
Qed.

Lemma in_time_step xs s x t :
  (forall ys u, length ys <= length xs -> steps g (empty g) ys u -> good ys -> in_time ys u) ->
  steps g (empty g) xs s -> step g s x t -> good (xs ++ [x]) -> in_time (xs ++ [x]) t.
Proof.
  intros IH H St G. assert (G0 := Prefix _ _ G). assert (T := IH xs s (le_n _) H G0).
  assert (S := sound_run g P xs s H (fun o => All xs o G0)). destruct S as [U K O Ps _ _].
  assert (N := no_time_back g s x t St). assert (H' := one_more_step g _ _ _ _ _ H St).
  destruct (match x with Until u => Some u | _ => None end) as [u|] eqn:X.
  { (* time passes *)
    destruct x; try discriminate X. clear X u. assert (Inv := St). inversion Inv; subst.
    match goal with E : forall r, In r (running s) -> t0 <= ends r |- _ => rename E into Ends end.
    set (t := State t0 Completions (launched s) (queues s) (ee s) (ce s) (running s) (free s)) in *.
    assert (W : work (launches (xs ++ [Until t0])) = work (launches xs)).
    { rewrite launches_app. simpl. rewrite app_nil_r. reflexivity. }
    intros o. remember (number o) as n eqn:En. revert o En.
    induction n as [n IHn] using (well_founded_induction lt_wf). intros o En M L. rewrite W.
    change (is_left s o) in L. change (at_head t o) with (at_head s o).
    assert (Wt := usage_dispatch g s U ltac:(assumption)).
    destruct (T o M L) as [[A (c & V & Z)]|[A Z]].
    - left. split; [exact A|]. assert (Up := Mine_upper o M).
      destruct (cost_in_time g top blocks P C weight one Heavy s t0 o c U K O Ps) with (t := t) as (c' & _ & V' & Z');
        try assumption; [intros p e l m; apply (Mine_copies o p e l m M (everywhere_left _ s o Ps L))|reflexivity|].
      exists c'. split; [exact V'|]. simpl. lia.
    - right. split; [exact A|].
      destruct (waits_for_something g s o K O Wt) as [B|(p & Lp & Wp)]; [|exact L|destruct (A B)|].
      { intros m E. assert (Po := everywhere_left _ s o Ps L).
        assert (Cr := allowed_runs _ _ _ _ (closed_allowed _ _ _ _ C o Po)).
        unfold can_run in Cr. rewrite E in Cr. exact Cr. }
      destruct (waits_for_mine xs s o p H G0 M L Lp Wp) as [Mp Pp].
      assert (Lt : number p < n).
      { unfold may_wait in Wp. apply andb_true_iff in Wp. subst n. apply Nat.ltb_lt, Wp. }
      specialize (IHn _ Lt p eq_refl Mp Lp). rewrite W in IHn. destruct IHn as [[_ (c & _ & Y)]|[_ Y]]; lia. }
  assert (Not : forall u, x <> Until u) by (intros u ->; discriminate X). clear X.
  assert (Nt : now t = now s) by (destruct St; try reflexivity; destruct (Not _ eq_refl)).
  intros o M L. destruct (left_is_launched g _ t o H' L) as [Lau Past]. assert (Since := Mine_since o M (All _ _ G Lau)).
  assert (R := remains_grows xs s x t H St G ltac:(lia)). rewrite Nt.
  destruct (left_before g s x t o K St L) as [Ls| ->].
  - destruct (T o M Ls) as [[A (c & V & Z)]|[A Z]].
    + left. split; [apply (stays_at_head s x t o O St A L)|]. exists c.
      split; [apply (cost_step g top weight one s x t o c U K St Not A (Mine_upper o M) V)|lia].
    + destruct (at_head_dec t o) as [B|B]; [left|right; split; [exact B|lia]]. split; [exact B|].
      destruct (at_head_before g s x t o O St B) as [B'| ->]; [destruct (A B')|]. exists (own o).
      split; [apply (cost_begins g top blocks P C weight one s o t U K Ps St (Mine_upper o M))|lia].
  - (* it is launched *)
    destruct (launched_now g s _ t o St (or_introl eq_refl)) as (_ & At & _). right. split.
    + intros B. destruct (at_head_before g s _ t o O St B) as [[m F]|Z]; [|discriminate Z].
      assert (Lt := order_launched g s O _ _ o F (or_introl eq_refl)). inversion St; subst. lia.
    + destruct (Hosts xs s o t H St G M) as (pause & [[Lp Pp]|(before & u & since & p & E & Sb & Su & Lp & Mp & Le & Pp)]).
      * assert (Rw := remains_work _ t H' G ltac:(lia)).
        assert (Q : one * now s <= one * (r + pause)) by (apply Nat.mul_le_mono_l; lia). lia.
      * subst xs. assert (Gb : good before) by (apply (Prefix _ since), G0).
        assert (Z := so_far before u p (IH before u ltac:(rewrite app_length; lia) Sb Gb) Mp Lp).
        assert (Ru : r <= now u).
        { destruct (left_is_launched g before u p Sb Lp) as [Ip Q]. assert (Y := Mine_since p Mp (All _ _ Gb Ip)). lia. }
        assert (Ra := remains_along u since s Su before Sb G0 Ru).
        assert (Q : one * now s <= one * (now u + pause)) by (apply Nat.mul_le_mono_l; lia). lia.
Qed.

(* The end of an operation is no later than the release, its path, and the work that counts of what was launched by then. *)
Theorem never_late : forall xs s, steps g (empty g) xs s -> good xs -> in_time xs s.
Proof.
  enough (Z : forall n xs s, length xs <= n -> steps g (empty g) xs s -> good xs -> in_time xs s)
    by (intros xs s; apply (Z _ xs s (le_n _))).
  induction n as [|n IH]; intros xs s Len H G.
  - destruct xs; [|simpl in Len; lia]. inversion H; subst. intros o M (k & F & I). exfalso.
    apply nth_error_In in F. simpl in F. apply repeat_spec in F. subst k. destruct I.
  - destruct xs as [|x ys _] using rev_ind.
    + apply (IH [] s (Nat.le_0_l _) H G).
    + destruct (last_step g _ _ _ _ H) as (b & Hb & St). rewrite app_length in Len. simpl in Len.
      apply (in_time_step ys b x s); try assumption. intros zs u Lz. apply IH. lia.
Qed.

(* All of the job whose paths are no longer than [X] is over by [F], if that and the work that counts of what is launched
   by [F] fit. *)
Theorem over_by_paths : forall X F, 0 < one ->
  (forall xs, good xs -> (forall o, In o (launches xs) -> launched_at o <= F) ->
    one * r + X + work (launches xs) <= one * F) ->
  forall xs s, steps g (empty g) xs s -> good xs -> F < now s ->
  everywhere (fun o => mine o = true -> X < path o) s.
Proof.
  intros X F Pos Fits.
  enough (Z : forall n xs s, length xs <= n -> steps g (empty g) xs s -> good xs -> F < now s ->
    forall o, mine o = true -> path o <= X -> is_left s o -> False).
  { intros xs s H G L. assert (K := sound_kept _ _ _ _ (sound_run g P xs s H (fun o => All xs o G))).
    apply (what_is_left g _ s K). intros o I M. apply Nat.nle_gt. intros Le. apply (Z _ xs s (le_n _) H G L o M Le I). }
  induction n as [|n IH]; intros xs s Len H G L o M Le I.
  { destruct xs; [|simpl in Len; lia]. inversion H; subst. simpl in L. lia. }
  destruct xs as [|x ys _] using rev_ind; [inversion H; subst; simpl in L; lia|].
  destruct (last_step g _ _ _ _ H) as (b & Hb & St). rewrite app_length in Len. simpl in Len.
  assert (Gb := Prefix _ _ G).
  assert (Sb := sound_run g P ys b Hb (fun o => All ys o Gb)).
  assert (By : forall zs u, steps g (empty g) zs u -> good zs -> now u <= F ->
    forall p, In p (launches zs) -> launched_at p <= F).
  { intros zs u Hz Gz Lu p Ip. assert (Q := sound_past _ _ _ _ (sound_run g P zs u Hz (fun o => All zs o Gz)) p Ip). lia. }
  assert (Cut : forall v, one * v <= one * F -> v <= F) by (intros v; apply Nat.mul_le_mono_pos_l, Pos).
  destruct (Nat.le_gt_cases (now b) F) as [Lb|Lb].
  - assert (T := so_far _ s o (never_late _ s H G) M I).
    assert (Q := Fits _ G). specialize (Cut (now s)). enough (now s <= F) by lia. apply Cut.
    enough (one * r + X + work (launches (ys ++ [x])) <= one * F) by lia. apply Q. intros p Ip.
    rewrite launches_app, in_app_iff in Ip. destruct Ip as [Ip|Ip]; [apply (By ys b Hb Gb Lb p Ip)|].
    simpl in Ip. rewrite app_nil_r in Ip. destruct (launched_now g b x s p St Ip) as (_ & -> & _). exact Lb.
  - destruct (left_before g b x s o (sound_kept _ _ _ _ Sb) St I) as [Ib| ->].
    { apply (IH ys b ltac:(lia) Hb Gb Lb o M Le Ib). }
    destruct (launched_now g b _ s o St (or_introl eq_refl)) as (_ & At & _).
    destruct (Hosts ys b o s Hb St G M) as (pause & [[Lp Pp]|(before & u & since & p & E & Su & _ & Ip & Mp & Lq & Pp)]).
    + assert (G1 : good []) by (apply (Prefix [] ys), Gb).
      assert (Q := Fits [] G1 ltac:(intros q [])). simpl in Q. specialize (Cut (r + pause)). lia.
    + subst ys. assert (Gu : good before) by (apply (Prefix _ since), Gb). rewrite app_length in Len.
      destruct (Nat.le_gt_cases (now u) F) as [Lu|Lu].
      * assert (T := so_far _ u p (never_late _ u Su Gu) Mp Ip).
        assert (Q := Fits _ Gu (By before u Su Gu Lu)). specialize (Cut (now u + pause)). lia.
      * apply (IH before u ltac:(lia) Su Gu Lu p Mp ltac:(lia) Ip).
Qed.
End Paths.
