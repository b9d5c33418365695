(* By when an operation is over where only what is launched until its last block begins counts. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial busy waits shared heads paths others.

(* Every kernel that is left in an EE queue has a block to begin. *)
Lemma some_block g xs s : steps g (empty g) xs s ->
  (forall l k o n, nth_error (ee s) l = Some k -> In (o, n) k -> 0 < n) /\
  everywhere (fun o => forall n la, what o <> Kernel 0 n la) s.
Proof.
  revert xs s. apply (in_steps g (fun xs s =>
    (forall l k o n, nth_error (ee s) l = Some k -> In (o, n) k -> 0 < n) /\
    everywhere (fun o => forall n la, what o <> Kernel 0 n la) s)).
  - split; [|apply everywhere_empty]. intros l k o n E I. simpl in E. apply nth_error_In, repeat_spec in E. subst k.
    destruct I.
  - intros xs s x t _ H [E W]. split.
    2: { apply (everywhere_step _ g s x t W H). intros o ->. inversion H; subst. assumption. }
    destruct H; simpl; try exact E; intros l' k o' n' F I;
      (destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (E l' k o' n' F' I)]).
    + apply in_app_iff in I. destruct I as [I|[I|[]]]; [apply (E _ _ _ _ H2 I)|]. injection I as <- <-.
      destruct H as [[H _] _]. destruct n as [|n]; [|lia].
      destruct (everywhere_queues _ s W _ _ o H (or_introl eq_refl) _ _ H0).
    + destruct H1 as [Q _]. destruct n as [|n]; simpl in I; [apply (E _ _ _ _ Q (or_intror I))|].
      destruct I as [I|I]; [injection I as <- <-; lia|apply (E _ _ _ _ Q (or_intror I))].
Qed.

Definition all_begun (s : state) (o : operation) : Prop :=
  at_head s o /\ (forall l k n, nth_error (ee s) l = Some k -> ~ In (o, n) k) /\
  (forall e k, nth_error (ce s) e = Some k -> ~ In o k).

(* What has begun stays so, and no more of it begins. *)
Lemma stays_begun g s x t o : kept g s -> in_order g s -> step g s x t -> all_begun s o -> is_left t o ->
  all_begun t o /\ forall b, In b (running t) -> of b = o -> In b (running s).
Proof.
  intros K O H (A & E & CE) L. assert (A' := stays_at_head g s x t o O H A L).
  assert (Apart : forall p rest, nth_error (queues s) (stream p) = Some (Queue false (p :: rest)) -> o <> p).
  { intros p rest F Z. destruct A as [m G]. rewrite Z, F in G. discriminate G. }
  enough (Z : (forall l k n, nth_error (ee t) l = Some k -> ~ In (o, n) k) /\
    (forall e k, nth_error (ce t) e = Some k -> ~ In o k) /\ forall b, In b (running t) -> of b = o -> In b (running s)).
  { destruct Z as (Z1 & Z2 & Z3). split; [split; [exact A'|split; assumption]|exact Z3]. }
  destruct H; simpl;
    try match goal with F : first_ready _ _ _ _ _ |- _ => destruct F as [[F0 _] _] end;
    try (split; [exact E|split; [exact CE|tauto]]);
    try (split; [exact E|split; [exact CE|]]; intros b I _; rewrite H1;
      apply in_app_iff in I; apply in_app_iff; simpl; tauto).
  - split; [|split; [exact CE|tauto]]. intros l' k n' F I.
    destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (E _ _ _ F' I)].
    apply in_app_iff in I. destruct I as [I|[I|[]]]; [apply (E _ _ _ H2 I)|]. injection I as I _.
    apply (Apart _ _ F0). congruence.
  - split; [exact E|split; [|tauto]]. intros e' k F I.
    destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (CE _ _ F' I)].
    apply in_app_iff in I. destruct I as [I|[I|[]]]; [apply (CE _ _ H1 I)|]. apply (Apart _ _ F0). congruence.
  - destruct H0 as [Q _]. split; [exact E|split].
    + intros e' k F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (CE _ _ F' I)].
      apply (CE _ _ Q). right. exact I.
    + intros b I Z. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [exact I|]. simpl in Z. subst o0.
      destruct (CE _ _ Q (or_introl eq_refl)).
  - destruct H1 as [Q _]. split; [|split; [exact CE|]].
    + intros l' k n' F I. destruct (update_cases _ _ _ _ _ F) as [[_ ->]|[_ F']]; [|apply (E _ _ _ F' I)].
      destruct n as [|n]; simpl in I; [apply (E _ _ _ Q (or_intror I))|].
      destruct I as [I|I]; [|apply (E _ _ _ Q (or_intror I))].
      injection I as -> _. apply (E _ _ (S (S n)) Q (or_introl eq_refl)).
    + intros b I Z. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [exact I|]. simpl in Z. subst o0.
      destruct (E _ _ _ Q (or_introl eq_refl)).
Qed.

Lemma one_of_sum {A} (f : A -> nat) l x : In x l -> f x <= sum (map f l).
Proof. induction l as [|y l IH]; intros I; [destruct I|]. destruct I as [->|I]; simpl; [lia|]. specialize (IH I). lia. Qed.

(* Of what has not begun a block remains. *)
Lemma block_remains g top weight one xs s o : steps g (empty g) xs s -> kept g s -> in_order g s -> upper g top o = true ->
  is_left s o -> all_begun s o \/ each weight o <= remains g top weight s /\
    (at_head s o -> forall c, within_cost g top weight one s o c -> last_block weight one o <= c).
Proof.
  intros H K O Up (q & F & I). destruct (some_block g xs s H) as [E W].
  assert (Of : forall f, of_upper g top f o = f o) by (intros f; unfold of_upper; rewrite Up; reflexivity).
  destruct (at_head_dec s o) as [A|A].
  2: { right. split; [|intros B; destruct (A B)].
    assert (Q : of_upper g top (work_of weight) o <= sum (map (queued g top weight) (queues s))).
    { eapply Nat.le_trans; [|apply (one_of_sum (queued g top weight) _ _ (nth_error_In _ _ F))]. unfold queued.
      apply one_of_sum. destruct q as [[|] m]; simpl in *; [|exact I]. destruct m as [|h m]; [destruct I|].
      destruct I as [->|I]; [|exact I]. destruct A. exists m. exact F. }
    rewrite Of in Q. unfold remains. enough (each weight o <= work_of weight o) by lia.
    assert (Z := everywhere_queues _ s W _ _ o F I). unfold work_of, each, worst_of in *.
    destruct (what o) as [[|n] need la| | |]; [destruct (Z need la eq_refl)|nia|lia|lia|lia]. }
  assert (Is : forall p, at_head s p -> number p = number o -> p = o).
  { intros p [m G] Z. destruct A as [m' A].
    assert (Y := order_apart g s O _ _ _ _ _ _ G (or_introl eq_refl) A (or_introl eq_refl) Z).
    rewrite Y, A in G. congruence. }
  destruct (existsb (existsb (fun x : operation * nat => number (fst x) =? number o)) (ee s)) eqn:X.
  { apply existsb_exists in X. destruct X as (k & J & X). apply existsb_exists in X. destruct X as ([p n] & J' & X).
    apply In_nth_error in J. destruct J as [l G]. simpl in X. apply Nat.eqb_eq in X. right.
    assert (p = o) by (apply Is, X; apply (queues.kept_ee g s K l k _ G J')). subst p. split.
    - assert (Q : n * of_upper g top (each weight) o <= sum (map (in_ee g top weight) (ee s))).
      { eapply Nat.le_trans; [|apply (one_of_sum (in_ee g top weight) _ _ (nth_error_In _ _ G))]. unfold in_ee.
        apply (one_of_sum (fun x => snd x * of_upper g top (each weight) (fst x)) _ _ J'). }
      rewrite Of in Q. assert (Pos := E l k o n G J'). unfold remains. nia.
    - intros _ c (V & _). destruct (V l k n G J') as (B & L & _). assert (Pos := Nat.le_0_l (one * B)). lia. }
  destruct (existsb (existsb (fun x => number x =? number o)) (ce s)) eqn:Y.
  { apply existsb_exists in Y. destruct Y as (k & J & Y). apply existsb_exists in Y. destruct Y as (p & J' & Y).
    apply In_nth_error in J. destruct J as [e G]. apply Nat.eqb_eq in Y. right.
    assert (p = o) by (apply Is, Y; apply (kept_ce K e k _ G J')). subst p. split.
    - assert (Q : of_upper g top (each weight) o <= sum (map (in_ce g top weight) (ce s))).
      { eapply Nat.le_trans; [|apply (one_of_sum (in_ce g top weight) _ _ (nth_error_In _ _ G))]. unfold in_ce.
        apply (one_of_sum (of_upper g top (each weight)) _ _ J'). }
      rewrite Of in Q. unfold remains. lia.
    - intros _ c (_ & V & _). apply (V e k G J'). }
  left. split; [exact A|]. split.
  - intros l k n G J. assert (Z : existsb (existsb (fun x : operation * nat => number (fst x) =? number o)) (ee s) = true);
      [|congruence].
    apply existsb_exists. exists k. split; [apply (nth_error_In _ _ G)|]. apply existsb_exists. exists (o, n).
    split; [exact J|apply Nat.eqb_refl].
  - intros e k G J. assert (Z : existsb (existsb (fun x => number x =? number o)) (ce s) = true); [|congruence].
    apply existsb_exists. exists k. split; [apply (nth_error_In _ _ G)|]. apply existsb_exists. exists o.
    split; [exact J|apply Nat.eqb_refl].
Qed.

Section Ends.
Variables (g : device) (top : nat) (blocks : nat -> nat) (P : operation -> Prop).
Hypothesis C : closed g top blocks P.
Local Notation upper := (upper g top).
Variables (weight : operation -> nat) (one : nat).
Hypothesis Heavy : heavy g top P weight one.
Hypothesis Positive : 0 < one.
Local Notation own := (own top blocks weight one).
Local Notation last_block := (last_block weight one).

(* Runs, a job and paths as in paths.v. *)
Variable good : list label -> Prop.
Hypothesis Prefix : forall l k, good (l ++ k) -> good l.
Hypothesis All : forall xs o, good xs -> In o (launches xs) -> P o.
Variables (mine : operation -> bool) (r : nat).
Hypothesis Mine_upper : forall o, mine o = true -> upper o = true.
Hypothesis Mine_since : forall o, mine o = true -> P o -> r <= launched_at o.
Hypothesis Mine_copies : forall o p e l m, mine o = true -> P o -> P p -> what o = Copy e l -> what p = Copy e m ->
  one <= weight p.
Variable counts : operation -> bool.
Hypothesis Counts : forall xs s, steps g (empty g) xs s -> good xs -> r <= now s ->
  everywhere (fun o => upper o = true -> counts o = true) s.
Variable path : operation -> nat.
Hypothesis Waits : forall o p, mine o = true -> P o -> P p -> counts p = true -> may_wait g o p = true ->
  mine p = true /\ path p + own o <= path o.
Hypothesis Hosts : forall xs s o t, steps g (empty g) xs s -> step g s (Launch o) t -> good (xs ++ [Launch o]) ->
  mine o = true -> exists pause,
  (launched_at o <= r + pause /\ one * pause + own o <= path o) \/
  exists before u since p, xs = before ++ since /\ steps g (empty g) before u /\ steps g u since s /\ is_left u p /\
    mine p = true /\ launched_at o <= now u + pause /\ path p + one * pause + own o <= path o.
Local Notation work := (work g top weight counts).

(* An operation of the job; by [F] its last block begins, if its path and the work that counts fit, with one block of its
   own for as long as it is not launched, but for that last block. *)
Variables (o : operation) (F : nat).
Hypothesis Mine : mine o = true.
Definition there (l : list operation) : bool := existsb (fun p => number p =? number o) l.
Hypothesis Fits : forall xs, good xs -> (forall p, In p (launches xs) -> launched_at p <= F) ->
  one * r + path o + work (launches xs) + (if there (launches xs) then 0 else each weight o) <= one * (F + worst_of o).

Lemma whole_block : one * worst_of o <= last_block o + each weight o /\ last_block o <= own o.
Proof.
  unfold heads.last_block, each, heads.own. split.
  - rewrite <- Nat.mul_add_distr_r. apply Nat.mul_le_mono_r. lia.
  - destruct (what o); try apply le_n. apply Nat.le_add_l.
Qed.
Lemma cut v : one * v <= one * F -> v <= F.
Proof. apply Nat.mul_le_mono_pos_l, Positive. Qed.
Lemma launched_by xs u : steps g (empty g) xs u -> good xs -> now u <= F ->
  forall p, In p (launches xs) -> launched_at p <= F.
Proof.
  intros H G L p I. assert (Q := sound_past _ _ _ _ (sound_run g P xs u H (fun o => All xs o G)) p I). lia.
Qed.

(* It is not launched later. *)
Lemma not_launched_later xs s t : steps g (empty g) xs s -> step g s (Launch o) t -> good (xs ++ [Launch o]) ->
  now s <= F.
Proof.
  intros H St G. assert (G0 := Prefix _ _ G). destruct whole_block as [B1 B2].
  destruct (launched_now g s _ t o St (or_introl eq_refl)) as (_ & At & _).
  assert (New : there (launches xs) = false).
  { unfold there. destruct (existsb _ _) eqn:X; [exfalso|reflexivity]. apply existsb_exists in X.
    destruct X as (p & I & E).
    apply Nat.eqb_eq in E. assert (N := number_of_launch g xs s p H I). inversion St; subst. lia. }
  assert (Sub : forall l k, there (l ++ k) = false -> there l = false).
  { intros l k. unfold there. rewrite existsb_app. intros Z. apply orb_false_iff in Z. apply Z. }
  destruct (Hosts xs s o t H St G Mine) as (pause & [[Lp Pp]|(before & u & since & p & E & Su & Hs & Ip & Mp & Lq & Pp)]).
  - assert (Q := Fits [] (Prefix [] xs G0) ltac:(intros q [])). simpl in Q. apply cut.
    assert (M : one * now s <= one * (r + pause)) by (apply Nat.mul_le_mono_l; lia). lia.
  - subst xs. assert (Gu := Prefix _ _ G0). rewrite launches_app in New. assert (Nb := Sub _ _ New).
    destruct (Nat.le_gt_cases (now u) F) as [Lu|Lu].
    + assert (T := so_far g top blocks weight one mine r counts path before u p
        (never_late g top blocks P C weight one Heavy good Prefix All mine r Mine_upper Mine_since Mine_copies counts
          Counts path Waits Hosts before u Su Gu) Mp Ip).
      assert (Q := Fits before Gu (launched_by before u Su Gu Lu)). rewrite Nb in Q. apply cut.
      assert (M : one * now s <= one * (now u + pause)) by (apply Nat.mul_le_mono_l; lia). lia.
    + exfalso. set (good' := fun ys => good ys /\ there (launches ys) = false).
      assert (Z : everywhere (fun q => mine q = true -> path p < path q) u).
      { apply (over_by_paths g top blocks P C weight one Heavy good') with (r := r) (counts := counts) (F := F)
          (xs := before); try assumption.
        - intros l k [A D]. split; [apply (Prefix _ _ A)|]. rewrite launches_app in D. apply (Sub _ _ D).
        - intros ys q [A _]. apply All, A.
        - intros ys v Hv [A _]. apply (Counts ys v Hv A).
        - intros ys v q w Hv Sv [A _]. apply (Hosts ys v q w Hv Sv A).
        - intros ys [A D] By. assert (Q := Fits ys A By). rewrite D in Q. lia.
        - split; assumption. }
      assert (Y := everywhere_left _ u p Z Ip Mp). lia.
Qed.

Lemma begun_later xs s : steps g (empty g) xs s -> good xs -> F < now s -> is_left s o ->
  all_begun s o /\ forall b, In b (running s) -> of b = o -> ends b <= F + worst_of o.
Proof.
  revert xs s. apply (in_steps g (fun xs s => good xs -> F < now s -> is_left s o ->
    all_begun s o /\ forall b, In b (running s) -> of b = o -> ends b <= F + worst_of o)).
  - intros _ L. simpl in L. lia.
  - intros xs s x t H St IH G L I. assert (G0 := Prefix _ _ G). assert (H' := one_more_step g _ _ _ _ _ H St).
    destruct (sound_run g P xs s H (fun p => All xs p G0)) as [_ K O _ _ _].
    destruct (sound_run g P _ t H' (fun p => All _ p G)) as [_ K' O' _ _ _].
    destruct (left_before g s x t o K St I) as [Is| ->].
    2: { assert (Z := not_launched_later xs s t H St G).
      destruct (launched_now g s _ t o St (or_introl eq_refl)) as (_ & _ & Nt). lia. }
    destruct (Nat.le_gt_cases (now s) F) as [Le|Gt].
    + assert (X : exists u, x = Until u) by (destruct St; simpl in L; try lia; eauto). destruct X as [u ->].
      destruct whole_block as [B1 B2].
      destruct (block_remains g top weight one _ t o H' K' O' (Mine_upper o Mine) I) as [A|[A D]].
      * split; [exact A|]. intros b J E. inversion St; subst. assert (Z := kept_short K b J). rewrite E in Z. lia.
      * exfalso. assert (Q := Fits _ G). rewrite launches_app in Q. simpl in Q. rewrite app_nil_r in Q.
        specialize (Q (launched_by xs s H G0 Le)).
        assert (T := never_late g top blocks P C weight one Heavy good Prefix All mine r Mine_upper Mine_since Mine_copies
          counts Counts path Waits Hosts _ t H' G o Mine I).
        rewrite launches_app in T. simpl in T. rewrite app_nil_r in T. assert (Z : now t <= F); [|lia]. apply cut.
        destruct T as [[Ah (c & V & T)]|[_ T]]; [specialize (D Ah c V)|]; lia.
    + destruct (IH G0 Gt Is) as [A E]. destruct (stays_begun g s x t o K O St A I) as [A' Sub].
      split; [exact A'|]. intros b J Z. apply (E b (Sub b J Z) Z).
Qed.

(* So it is over when that block may have run for as long as it may. *)
Theorem over_after_last_block : forall xs s, steps g (empty g) xs s -> good xs -> F + worst_of o < now s ->
  ~ is_left s o.
Proof.
  apply (in_steps g (fun xs s => good xs -> F + worst_of o < now s -> ~ is_left s o)).
  - intros _ L. simpl in L. lia.
  - intros xs s x t H St IH G L I. assert (G0 := Prefix _ _ G). assert (H' := one_more_step g _ _ _ _ _ H St).
    destruct (sound_run g P xs s H (fun p => All xs p G0)) as [_ K O _ _ _].
    destruct (sound_run g P _ t H' (fun p => All _ p G)) as [_ K' O' _ _ _].
    destruct (left_before g s x t o K St I) as [Is| ->].
    2: { assert (Z := not_launched_later xs s t H St G).
      destruct (launched_now g s _ t o St (or_introl eq_refl)) as (_ & _ & Nt). lia. }
    destruct (Nat.le_gt_cases (now s) (F + worst_of o)) as [Le|Gt]; [|apply (IH G0 Gt Is)].
    destruct (begun_later _ t H' G ltac:(lia) I) as [([m Q] & E & CE) Ends].
    destruct (order_somewhere g t O' _ o m Q) as [(b & J & N)|[(l & k & y & J & J' & N)|(e & k & p & J & J' & N)]].
    + assert (Z : of b = o).
      { destruct (kept_running K' b J) as [m' Q'].
        assert (Y := order_apart g t O' _ _ _ _ _ _ Q' (or_introl eq_refl) Q (or_introl eq_refl) N).
        rewrite Y, Q in Q'. congruence. }
      specialize (Ends b J Z). destruct St; simpl in *; try lia.
      match goal with T : forall r, In r (running s) -> _ <= ends r |- _ => specialize (T b J) end. lia.
    + destruct y as [p n]. simpl in N. apply (E l k n J). assert (Z : p = o); [|rewrite <- Z; exact J'].
      destruct (proj1 (queues.kept_ee g t K' l k _ J J')) as [m' Q']. simpl in Q'.
      assert (Y := order_apart g t O' _ _ _ _ _ _ Q' (or_introl eq_refl) Q (or_introl eq_refl) N).
      rewrite Y, Q in Q'. congruence.
    + apply (CE e k J). assert (Z : p = o); [|rewrite <- Z; exact J'].
      destruct (proj1 (kept_ce K' e k _ J J')) as [m' Q'].
      assert (Y := order_apart g t O' _ _ _ _ _ _ Q' (or_introl eq_refl) Q (or_introl eq_refl) N).
      rewrite Y, Q in Q'. congruence.
Qed.
End Ends.
