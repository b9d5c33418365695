(* Hosts whose launches come at fixed instants: they sleep and launch, and before a host launches again after it has
   waited, a timer comes that is no earlier than all that it waited for is over. A checker of such programs beside what
   certificates say is over by when, and what follows once it accepts them. *)
From Coq Require Import List Arith Bool Lia Permutation.
Import ListNotations.
From gpusched Require Import model executable follows lists usage queues progress serial closed busy choices certificate waits
  shared sharing heads paths others ends programs hosts.

(* When a host comes to a call: just then, or no later. *)
Record moment := Moment { is_exact : bool; at_most : nat }.

Section Plan.
Variable g : device.
(* All that a stream launches by an instant is over by another, no earlier one. *)
Variable settles : nat -> nat -> option nat.
Definition later (a b : option nat) : option nat :=
  match a, b with Some x, Some y => Some (Nat.max x y) | _, _ => None end.
Definition settle_all (l : list nat) (t : nat) : option nat :=
  fold_right (fun q F => later (settles q t) F) (Some t) l.
(* When a host comes to its next call; [own] are the streams to which it submits. *)
Definition goes_to (own : list nat) (x : moment) (c : call) : option moment :=
  match c with
  | Submit _ _ _ => if is_exact x then Some x else None
  | Pause e => Some (Moment (is_exact x) (at_most x + e))
  | Timer r =>
      if is_exact x then Some (Moment true (Nat.max (at_most x) r))
      else if at_most x <=? r then Some (Moment true r) else None
  | Await (In_streams l) => option_map (Moment false) (settle_all l (at_most x))
  | Await Last => option_map (Moment false) (settle_all own (at_most x))
  | _ => None
  end.
(* When a host comes to each of its calls, and to its end. *)
Fixpoint trail (own : list nat) (x : moment) (l : list call) : option (list moment) :=
  match l with
  | [] => Some [x]
  | c :: rest =>
      match goes_to own x c with
      | Some y => match trail own y rest with Some m => Some (x :: m) | None => None end
      | None => None
      end
  end.
(* What it launches when. *)
Fixpoint launched_on (m : list moment) (l : list call) : list item :=
  match m, l with
  | x :: m, c :: l =>
      match c with Submit q w _ => Item q (at_most x) w :: launched_on m l | _ => launched_on m l end
  | _, _ => []
  end.
Definition streams_of (l : list call) : list nat :=
  nodup Nat.eq_dec (flat_map (fun c => match c with Submit q _ _ => [q] | _ => [] end) l).
Definition plan (l : list call) : option (list moment) := trail (streams_of l) (Moment true 0) l.

(* That calls [first] to [next - 1] of a host, and what they launch, are over by an instant. *)
Definition ends_by (l : list call) (m : list moment) (first next due : nat) : bool :=
  match nth_error m next with Some x => at_most x <=? due | None => false end
  && forallb (fun cx => match fst cx with
       | Submit q _ _ => match settles q (at_most (snd cx)) with Some F => F <=? due | None => false end
       | _ => true
       end) (firstn (next - first) (skipn first (combine l m))).

Lemma later_some a b F : later a b = Some F -> exists x y, a = Some x /\ b = Some y /\ F = Nat.max x y.
Proof. destruct a as [x|], b as [y|]; try discriminate. intros E. injection E as <-. exists x, y. tauto. Qed.
Lemma settle_all_some l t F : settle_all l t = Some F -> t <= F /\
  forall q, In q l -> exists G, settles q t = Some G /\ G <= F.
Proof.
  revert F. induction l as [|q l IH]; intros F E; simpl in E; [injection E as <-; split; [lia|intros q []]|].
  apply later_some in E. destruct E as (x & y & Ex & Ey & ->). destruct (IH y Ey) as [Le All]. split; [lia|].
  intros p [<-|I]; [exists x; split; [exact Ex|lia]|]. destruct (All p I) as (G & EG & LG). exists G. split; [exact EG|lia].
Qed.
Lemma goes_later own x c y : goes_to own x c = Some y -> at_most x <= at_most y.
Proof.
  destruct c as [q w e|e|r|[l| |a]|b|k]; simpl; try discriminate.
  - destruct (is_exact x); [intros E; injection E as <-; lia|discriminate].
  - intros E. injection E as <-. simpl. lia.
  - destruct (is_exact x); [intros E; injection E as <-; simpl; lia|].
    destruct (Nat.leb_spec (at_most x) r); [intros E; injection E as <-; simpl; lia|discriminate].
  - destruct (settle_all l (at_most x)) as [F|] eqn:E; [|discriminate]. intros Z. injection Z as <-. simpl.
    apply (settle_all_some _ _ _ E).
  - destruct (settle_all own (at_most x)) as [F|] eqn:E; [|discriminate]. intros Z. injection Z as <-. simpl.
    apply (settle_all_some _ _ _ E).
Qed.
Lemma trail_first own x l m : trail own x l = Some m -> nth_error m 0 = Some x.
Proof.
  destruct l as [|c l]; simpl; [intros E; injection E as <-; reflexivity|].
  destruct (goes_to own x c) as [y|]; [|discriminate]. destruct (trail own y l); [|discriminate].
  intros E. injection E as <-. reflexivity.
Qed.
Lemma trail_next own l : forall x m, trail own x l = Some m -> forall i c, nth_error l i = Some c ->
  exists a b, nth_error m i = Some a /\ nth_error m (S i) = Some b /\ goes_to own a c = Some b.
Proof.
  induction l as [|d l IH]; intros x m H i c E; [destruct i; discriminate E|]. simpl in H.
  destruct (goes_to own x d) as [y|] eqn:Gy; [|discriminate H]. destruct (trail own y l) as [k|] eqn:T; [|discriminate H].
  injection H as <-. destruct i as [|i]; simpl in E.
  - injection E as <-. exists x, y. split; [reflexivity|]. split; [apply (trail_first own y l k T)|exact Gy].
  - destruct (IH y k T i c E) as (a & b & A & B & C). exists a, b. tauto.
Qed.
Lemma trail_length own l : forall x m, trail own x l = Some m -> length m = S (length l).
Proof.
  induction l as [|d l IH]; intros x m H; simpl in H; [injection H as <-; reflexivity|].
  destruct (goes_to own x d) as [y|]; [|discriminate H]. destruct (trail own y l) as [k|] eqn:T; [|discriminate H].
  injection H as <-. simpl. rewrite (IH y k T). reflexivity.
Qed.
Lemma trail_grows own l x m : trail own x l = Some m -> forall d i a b, nth_error m i = Some a ->
  nth_error m (i + d) = Some b -> at_most a <= at_most b.
Proof.
  intros T. induction d as [|d IH]; intros i a b A B; [rewrite Nat.add_0_r in B; rewrite A in B; injection B as ->; lia|].
  rewrite Nat.add_succ_r in B. assert (Lt : S (i + d) < length m) by (apply nth_error_Some; congruence).
  rewrite (trail_length _ _ _ _ T) in Lt. destruct (nth_error l (i + d)) as [c|] eqn:E; [|apply nth_error_None in E; lia].
  destruct (trail_next own l x m T _ _ E) as (a' & b' & A' & B' & G). rewrite B in B'. injection B' as <-.
  specialize (IH i a a' A A'). apply goes_later in G. lia.
Qed.
Lemma launched_skip l : forall m i c, nth_error l i = Some c -> length m = S (length l) -> forall x, nth_error m i = Some x ->
  launched_on (skipn i m) (skipn i l) =
  match c with Submit q w _ => [Item q (at_most x) w] | _ => [] end ++ launched_on (skipn (S i) m) (skipn (S i) l).
Proof.
  induction l as [|d l IH]; intros m i c E Len x X; [destruct i; discriminate E|].
  destruct m as [|y m]; [discriminate Len|]. destruct i as [|i]; simpl in E, X.
  - injection E as <-. injection X as <-. simpl. destruct d; reflexivity.
  - simpl in Len. apply (IH m i c E ltac:(lia) x X).
Qed.

Lemma nth_error_firstn_lt {A} n : forall (l : list A) i, i < n -> nth_error (firstn n l) i = nth_error l i.
Proof.
  induction n as [|n IH]; intros l i L; [lia|]. destruct l as [|x l]; [reflexivity|]. destruct i as [|i]; [reflexivity|].
  apply (IH l i). lia.
Qed.
Lemma nth_error_skipn_plus {A} n : forall (l : list A) i, nth_error (skipn n l) i = nth_error l (n + i).
Proof.
  induction n as [|n IH]; intros l i; [reflexivity|]. destruct l as [|x l]; [destruct i; reflexivity|]. apply (IH l i).
Qed.
Lemma nth_error_combine {A B} (l : list A) : forall (m : list B) i a b, nth_error l i = Some a -> nth_error m i = Some b ->
  nth_error (combine l m) i = Some (a, b).
Proof.
  induction l as [|x l IH]; intros m i a b Ea Eb; [destruct i; discriminate Ea|].
  destruct m as [|y m]; [destruct i; discriminate Eb|]. destruct i as [|i]; simpl in *; [congruence|].
  apply (IH m i a b Ea Eb).
Qed.

Variable progs : list (list call).
Variable trails : list (list moment).
Hypothesis Plans : map plan progs = map Some trails.
Definition program (h : nat) : list call := nth h progs [].
Definition trail_of (h : nat) : list moment := nth h trails [Moment true 0].
Variable who : nat -> nat * nat.
Local Notation exec := (exec g program who).

Lemma planned h : plan (program h) = Some (trail_of h).
Proof.
  unfold program, trail_of. assert (E := Plans). clear Plans. revert trails E h.
  induction progs as [|p l IH]; intros [|m ms] E h; simpl in E; try discriminate E.
  - destruct h; reflexivity.
  - injection E as Ep E. destruct h; [exact Ep|apply (IH ms E h)].
Qed.
Definition ahead (h i : nat) : list item := launched_on (skipn i (trail_of h)) (skipn i (program h)).
Definition all_ahead (st : hosts) : list item := flat_map (fun h => ahead h (done st h)) (seq 0 (length progs)).
Definition all_planned : list item := flat_map (fun h => ahead h 0) (seq 0 (length progs)).

Hypothesis Settles : forall q t F, settles q t = Some F -> t <= F /\
  forall xs s rest, steps g (empty g) xs s -> Permutation (map item_of (launches xs) ++ rest) all_planned ->
  F < now s -> everywhere (fun o => stream o = q -> F < launched_at o) s.

(* What is known of a run at each of its points. *)
Record on_plan (xs : list label) (st : hosts) : Prop := {
  plan_here : forall h, exists x, nth_error (trail_of h) (done st h) = Some x /\ clock (since st h) <= at_most x /\
    (is_exact x = true -> clock (since st h) = at_most x);
  plan_next : forall h y, nth_error (trail_of h) (S (done st h)) = Some y -> clock xs <= at_most y;
  plan_items : Permutation (map item_of (launches xs) ++ all_ahead st) all_planned;
  plan_launches : forall o, In o (launches xs) -> exists x, nth_error (trail_of (by_host who o)) (by_call who o) = Some x /\
    launched_at o = at_most x }.

Lemma clock_since xs st h : exec xs st -> clock (since st h) <= clock xs.
Proof.
  intros E. destruct (exec_steps g program who xs st E) as [s H].
  destruct (told_since _ _ _ _ (exec_told g program who xs st E) h) as [ys Ex]. rewrite Ex in H |- *.
  apply (clock_grows g _ _ s H).
Qed.
Lemma other_program h : length progs <= h -> program h = [].
Proof. intros L. unfold program. apply nth_overflow, L. Qed.
Lemma does_lt h i c : does program h i c -> h < length progs.
Proof.
  intros D. apply Nat.nle_gt. intros L. unfold does in D. rewrite (other_program h L) in D. destruct i; discriminate D.
Qed.
Lemma ahead_goes h xs st c x : does program h (done st h) c -> nth_error (trail_of h) (done st h) = Some x ->
  Permutation (match c with Submit q w _ => [Item q (at_most x) w] | _ => [] end ++ all_ahead (goes h xs st)) (all_ahead st).
Proof.
  intros D X. assert (Lt := does_lt h _ c D). set (new := match c with Submit q w _ => _ | _ => _ end).
  assert (Own : ahead h (done st h) = new ++ ahead h (S (done st h))).
  { unfold ahead. apply (launched_skip (program h) (trail_of h) _ c D); [|exact X].
    apply (trail_length _ _ _ _ (planned h)). }
  unfold all_ahead. assert (P : forall n a, (a <= h < a + n ->
      Permutation (new ++ flat_map (fun k => ahead k (done (goes h xs st) k)) (seq a n))
        (flat_map (fun k => ahead k (done st k)) (seq a n))) /\
    (~ a <= h < a + n -> flat_map (fun k => ahead k (done (goes h xs st) k)) (seq a n) =
      flat_map (fun k => ahead k (done st k)) (seq a n))).
  { induction n as [|n IH]; intros a; [split; [lia|reflexivity]|]. simpl. destruct (IH (S a)) as [In_l Out].
    destruct (Nat.eq_dec a h) as [->|N].
    - split; [intros _|lia]. rewrite (Out ltac:(lia)), (proj1 (same h xs st)), Own, <- app_assoc. apply Permutation_refl.
    - assert (E : done (goes h xs st) a = done st a) by (unfold done; rewrite (other h xs st a N); reflexivity).
      rewrite E. split; intros L.
      + rewrite app_assoc. eapply Permutation_trans; [apply Permutation_app_tail, Permutation_app_comm|].
        rewrite <- app_assoc. apply Permutation_app_head, In_l. lia.
      + rewrite (Out ltac:(lia)). reflexivity. }
  apply (proj1 (P (length progs) 0)). lia.
Qed.

(* A host goes on to its next call. *)
Lemma next_on_plan xs ys st h c x y : exec xs st -> on_plan xs st -> does program h (done st h) c ->
  nth_error (trail_of h) (done st h) = Some x -> nth_error (trail_of h) (S (done st h)) = Some y ->
  clock ys = clock xs -> (is_exact y = true -> clock xs = at_most y) ->
  (forall k, exists z, nth_error (trail_of k) (done (goes h ys st) k) = Some z /\
    clock (since (goes h ys st) k) <= at_most z /\ (is_exact z = true -> clock (since (goes h ys st) k) = at_most z)) /\
  (forall k z, nth_error (trail_of k) (S (done (goes h ys st) k)) = Some z -> clock ys <= at_most z).
Proof.
  intros E [Here Nx _ _] D X Y Cl Ex. rewrite Cl. split; intros k.
  - destruct (Nat.eq_dec k h) as [->|N].
    + rewrite (proj1 (same h ys st)), (proj2 (same h ys st)), Cl. exists y. split; [exact Y|].
      split; [apply (Nx h y Y)|exact Ex].
    + unfold done, since. rewrite (other h ys st k N). apply Here.
  - intros z Z. destruct (Nat.eq_dec k h) as [->|N].
    + rewrite (proj1 (same h ys st)) in Z. specialize (Nx h y Y).
      assert (G := trail_grows _ _ _ _ (planned h) 1 (S (done st h)) y z Y). rewrite Nat.add_1_r in G. specialize (G Z). lia.
    + unfold done in Z. rewrite (other h ys st k N) in Z. apply (Nx k z Z).
Qed.

Lemma submitted xs st h w p : exec xs st -> awaited program who w h (since st h) p ->
  exists e, does program (by_host who p) (by_call who p) (Submit (stream p) (what p) e).
Proof.
  intros E (I & _). destruct (told_since _ _ _ _ (exec_told g program who xs st E) h) as [ys Ex].
  apply (told_call _ _ _ _ (exec_told g program who xs st E) p). rewrite Ex, launches_app, in_app_iff. tauto.
Qed.
(* What a host waits for is over when it is settled. *)
Lemma awaited_by xs st h w p l t s x F : exec xs st -> on_plan xs st -> awaited program who w h (since st h) p ->
  left_at g xs p -> In (stream p) l -> nth_error (trail_of h) (done st h) = Some x ->
  settle_all l (at_most x) = Some F -> steps g (empty g) (xs ++ [Until t]) s -> t <= F.
Proof.
  intros E [Here _ Items _] (Ip & _) Lp Il X EF H. apply Nat.nlt_ge. intros Late.
  destruct (settle_all_some _ _ _ EF) as [_ All]. destruct (All _ Il) as (G & EG & LG).
  destruct (Settles _ _ _ EG) as [Lt Ov]. assert (Cl := now_is_clock g _ s H). rewrite clock_last in Cl.
  assert (La : launches (xs ++ [Until t]) = launches xs) by (rewrite launches_app; apply app_nil_r).
  destruct (left_until g program who xs t s p H Lp) as (s' & H' & Ls). assert (Q := one_end g _ _ _ H _ H'). subst s'.
  assert (Z := everywhere_left _ s p (Ov _ s (all_ahead st) H ltac:(rewrite La; exact Items) ltac:(lia)) Ls eq_refl).
  destruct (Here h) as (x' & X' & Le & _). rewrite X in X'. injection X' as <-.
  destruct (exec_steps g program who xs st E) as [u Hu].
  destruct (told_since _ _ _ _ (exec_told g program who xs st E) h) as [ys Ex]. rewrite Ex in Hu.
  destruct (midway g ys (since st h) _ u Hu) as (v & Hv & _).
  assert (Early : forall zs v, steps g (empty g) zs v -> forall o, In o (launches zs) -> launched_at o <= now v).
  { clear. apply (in_steps g (fun zs v => forall o, In o (launches zs) -> launched_at o <= now v)); [intros o []|].
    intros zs v z w _ St IH o I. rewrite launches_app, in_app_iff in I. assert (T := no_time_back g v z w St).
    destruct I as [I|I]; [specialize (IH o I); lia|]. simpl in I. rewrite app_nil_r in I.
    destruct (launched_now g v z w o St I) as (_ & -> & ->). lia. }
  specialize (Early _ v Hv p Ip). rewrite (now_is_clock g _ v Hv) in Early. lia.
Qed.

Theorem runs_on_plan : forall xs st, exec xs st -> on_plan xs st.
Proof.
  induction 1 as [|xs st x s E IH H N Ho|xs st h o e s E IH Dh W H|xs st h c E IH Dh N Ho].
  - split.
    + intros h. exists (Moment true 0). split; [apply (trail_first _ _ _ _ (planned h))|]. split; [apply le_n|reflexivity].
    + intros h y _. apply Nat.le_0_l.
    + apply Permutation_refl.
    + intros o [].
  - assert (L : launches (xs ++ [x]) = launches xs).
    { rewrite launches_app. destruct x; simpl; try apply app_nil_r. destruct (N o eq_refl). }
    assert (P := IH). destruct IH as [Here Nx Items La]. split; rewrite ?L; try assumption.
    intros h y Y. rewrite clock_last. destruct x as [o|o|o d|o i d|o p| | | |t]; try apply (Nx h y Y).
    assert (Lt : S (done st h) < length (trail_of h)) by (apply nth_error_Some; congruence).
    assert (Len := trail_length _ _ _ _ (planned h)).
    destruct (nth_error (program h) (done st h)) as [c|] eqn:D; [|apply nth_error_None in D; lia].
    destruct (trail_next _ _ _ _ (planned h) _ _ D) as (x & y' & X & Y' & G). rewrite Y in Y'. injection Y' as <-.
    destruct (Here h) as (x' & X' & Le & _). rewrite X in X'. injection X' as <-.
    assert (Hc := Ho t h c eq_refl D). destruct c as [q w e|e|r|[l| |a]|b|k]; simpl in G, Hc; try discriminate G.
    + destruct Hc.
    + injection G as <-. simpl. lia.
    + destruct (is_exact x); [injection G as <-; simpl; lia|]. destruct (at_most x <=? r); [|discriminate G].
      injection G as <-. exact Hc.
    + destruct (settle_all l (at_most x)) as [F|] eqn:EF; [|discriminate G]. injection G as <-. simpl.
      destruct Hc as (p & A & Lp). apply (awaited_by xs st h _ p l t s x F E P A Lp); try assumption.
      destruct (submitted xs st h _ p E A) as (e & D'). destruct A as (_ & (q & v & e' & Dq & I) & _). simpl in I.
      unfold does in *. congruence.
    + destruct (settle_all (streams_of (program h)) (at_most x)) as [F|] eqn:EF; [|discriminate G]. injection G as <-.
      simpl. destruct Hc as (p & A & Lp).
      apply (awaited_by xs st h _ p (streams_of (program h)) t s x F E P A Lp); try assumption.
      destruct (submitted xs st h _ p E A) as (e & D'). destruct A as (_ & (q & v & e' & Dq & I) & _). simpl in I.
      apply nodup_In, in_flat_map. exists (Submit (stream p) (what p) e). split; [|left; reflexivity].
      rewrite I in D'. apply (nth_error_In _ _ D').
  - assert (P := IH). destruct IH as [Here Nx Items La]. destruct (last_step g _ _ _ _ H) as (u & Hu & St).
    destruct (launched_now g u _ s o St (or_introl eq_refl)) as (_ & At & _). rewrite (now_is_clock g xs u Hu) in At.
    destruct (trail_next _ _ _ _ (planned h) _ _ Dh) as (x & y & X & Y & G). simpl in G.
    destruct (is_exact x) eqn:Ex; [|discriminate G]. injection G as <-.
    destruct (Here h) as (x' & X' & _ & Exact). rewrite X in X'. injection X' as <-. specialize (Exact Ex).
    assert (Cx : clock xs = at_most x).
    { assert (A := clock_since xs st h E). specialize (Nx h x Y). lia. }
    destruct (next_on_plan xs (xs ++ [Launch o]) st h _ x x E P Dh X Y) as [A B]; [apply clock_last|tauto|].
    split; [exact A|exact B| |].
    + eapply Permutation_trans; [|exact Items]. rewrite launches_app, map_app, <- app_assoc.
      apply Permutation_app_head. eapply Permutation_trans; [|apply (ahead_goes h (xs ++ [Launch o]) st _ x Dh X)].
      simpl. unfold item_of. rewrite At, Cx. apply Permutation_refl.
    + intros p I. rewrite launches_app, in_app_iff in I. destruct I as [I|[<-|[]]]; [apply (La p I)|].
      unfold by_host, by_call. rewrite W. exists x. simpl. split; [exact X|lia].
  - assert (P := IH). destruct IH as [Here Nx Items La].
    destruct (trail_next _ _ _ _ (planned h) _ _ Dh) as (x & y & X & Y & G).
    destruct (Here h) as (x' & X' & _ & Exact). rewrite X in X'. injection X' as <-.
    assert (Since := clock_since xs st h E). assert (Next := Nx h y Y).
    assert (Q : is_exact y = true -> clock xs = at_most y).
    { intros Ey. assert (Z := Ho (S (clock xs)) (le_n _)).
      destruct c as [q w e|e|r|[l| |a]|b|k]; simpl in G, Z; try discriminate G.
      - destruct (N q w e eq_refl).
      - injection G as <-. simpl in *. specialize (Exact Ey). lia.
      - destruct (is_exact x) eqn:Ex; [injection G as <-; simpl in *; specialize (Exact eq_refl); lia|].
        destruct (at_most x <=? r); [|discriminate G]. injection G as <-. simpl in *. lia.
      - destruct (settle_all l (at_most x)); [|discriminate G]. injection G as <-. discriminate Ey.
      - destruct (settle_all (streams_of (program h)) (at_most x)); [|discriminate G]. injection G as <-. discriminate Ey. }
    destruct (next_on_plan xs xs st h c x y E P Dh X Y eq_refl Q) as [A B]. split; [exact A|exact B| |exact La].
    eapply Permutation_trans; [|exact Items]. apply Permutation_app_head.
    assert (C := ahead_goes h xs st c x Dh X). destruct c; try exact C. destruct (N q w event eq_refl).
Qed.

(* A job of a host is over, with what it launches, when that is claimed. *)
Theorem ends_in_time : forall h first next due, ends_by (program h) (trail_of h) first next due = true ->
  forall xs st, exec xs st -> due < clock xs ->
  next <= done st h /\
  forall o, left_at g xs o -> by_host who o = h -> by_call who o < next -> by_call who o < first.
Proof.
  intros h first next due B xs st E Late. assert (P := runs_on_plan xs st E). destruct P as [Here Nx Items La].
  unfold ends_by in B. apply andb_true_iff in B. destruct B as [B Ops].
  destruct (nth_error (trail_of h) next) as [z|] eqn:Z; [|discriminate B]. apply Nat.leb_le in B. split.
  - apply Nat.nlt_ge. intros Lt.
    assert (Len : next < length (trail_of h)) by (apply nth_error_Some; congruence).
    destruct (nth_error (trail_of h) (S (done st h))) as [y|] eqn:Y; [|apply nth_error_None in Y; lia].
    assert (G := trail_grows _ _ _ _ (planned h) (next - S (done st h)) _ y z Y).
    replace (S (done st h) + (next - S (done st h))) with next in G by lia. specialize (G Z).
    specialize (Nx h y Y). lia.
  - intros o (s & H & L) Oh Lt. apply Nat.nle_gt. intros Ge. destruct (left_is_launched g xs s o H L) as [Io _].
    destruct (La o Io) as (x & X & At). destruct (told_call _ _ _ _ (exec_told g program who xs st E) o Io) as (_ & e & D).
    rewrite Oh in *. rewrite forallb_forall in Ops.
    assert (I : In (Submit (stream o) (what o) e, x) (firstn (next - first) (skipn first (combine (program h) (trail_of h))))).
    { set (i := by_call who o) in *.
      apply (nth_error_In _ (i - first)). rewrite nth_error_firstn_lt by lia.
      rewrite nth_error_skipn_plus. replace (first + (i - first)) with i by lia. apply nth_error_combine; assumption. }
    specialize (Ops _ I). simpl in Ops. destruct (settles (stream o) (at_most x)) as [F|] eqn:EF; [|discriminate Ops].
    apply Nat.leb_le in Ops. destruct (Settles _ _ _ EF) as [Le Ov].
    assert (Now := now_is_clock g xs s H).
    assert (Q := everywhere_left _ s o (Ov xs s (all_ahead st) H Items ltac:(lia)) L eq_refl). lia.
Qed.
End Plan.

Lemma terms_within g top items all : forall last, walk g top (table g top (certificate.kinds items)) last all = true ->
  forall i, In i all -> forall t, In t (terms i) -> from i <= item_at (fst t) <= until i.
Proof.
  induction all as [|i0 all IH]; intros last H i I t T; [destruct I|]. simpl in H. rewrite !andb_true_iff in H.
  destruct H as [[[[[_ _] Ts] _] _] W]. destruct I as [<-|I]; [|apply (IH _ W i I t T)].
  rewrite forallb_forall in Ts. specialize (Ts t T). rewrite !andb_true_iff, !Nat.leb_le in Ts. lia.
Qed.
Lemma flat_map_ext' {A B} (f h : A -> list B) l : (forall x, In x l -> f x = h x) -> flat_map f l = flat_map h l.
Proof.
  induction l as [|x l IH]; intros E; [reflexivity|]. simpl. rewrite (E x (or_introl eq_refl)), IH; [reflexivity|].
  intros y I. apply E. right. exact I.
Qed.

(* What certificates say of streams of so many of the highest priorities. *)
Inductive evidence :=
| Serial (top : nat) (all : list interval)
| Weighed (top scale : nat) (weights : list (resources * nat)) (all : list span).
(* All that is launched, with the host that does it. *)
Definition launched_by_host := list (nat * item).
(* That calls of a host, with what they launch, are over by an instant. *)
Record host_job := HostJob { of_host : nat; first_call : nat; next_call : nat; over_at : nat }.

Section Hosted.
Variables (g : device) (tagged : launched_by_host).
Definition all_items : list item := map snd tagged.
Definition accept_evidence (e : evidence) : bool :=
  match e with
  | Serial top all => accept g top all_items all
  | Weighed top scale weights all => accept_shared g top all_items scale weights all
  end.
Definition shown_jobs (e : evidence) : list job :=
  match e with Serial _ all => flat_map proves all | Weighed _ _ _ all => flat_map shows all end.
Definition least (a b : option nat) : option nat :=
  match a, b with Some x, Some y => Some (Nat.min x y) | Some x, None => Some x | None, y => y end.
(* No interval has begun then and is not over. *)
Definition between_intervals (all : list interval) (F : nat) : bool :=
  forallb (fun i => (F <? from i) || (until i <=? F)) all.
Definition settled_in (all : list interval) (t : nat) : option nat :=
  let F := match find (fun i => (from i <=? t) && (t <=? until i)) all with Some i => until i | None => t end in
  if (t <=? F) && between_intervals all F then Some F else None.
Definition settled_by (e : evidence) (q t : nat) : option nat :=
  match e with
  | Serial top all => if level_of g top q <? top then settled_in all t else None
  | Weighed _ _ _ all =>
      fold_right least None (flat_map (fun s => map (fun j =>
        let F := Nat.min (over_at_last s) (job_due j) in
        if (job_stream j =? q) && (t <=? F) then Some F else None) (shows s)) all)
  end.
Variable evidences : list evidence.
Definition used (q : nat) : bool := existsb (fun i => item_stream (snd i) =? q) tagged.
Definition settles_used (q t : nat) : option nat :=
  fold_right least None (map (fun e => settled_by e q t) evidences).
Variable unused : list nat.
Definition settles (q t : nat) : option nat := if existsb (Nat.eqb q) unused then Some t else settles_used q t.

Variable progs : list (list call).
Definition all_plans : option (list (list moment)) :=
  fold_right (fun p all => match plan settles p, all with Some m, Some l => Some (m :: l) | _, _ => None end) (Some [])
    progs.
Fixpoint each_launches (n : nat) (ps : list (list call)) (ms : list (list moment)) : bool :=
  match ps, ms with
  | p :: ps, m :: ms => certificate.same (map snd (filter (fun x => fst x =? n) tagged)) (launched_on m p) && each_launches (S n) ps ms
  | [], [] => true
  | _, _ => false
  end.
Definition accept_host_job (ms : list (list moment)) (j : host_job) : bool :=
  ends_by settles (nth (of_host j) progs []) (nth (of_host j) ms []) (first_call j) (next_call j) (over_at j).
Definition accept_hosts (jobs : list host_job) : bool :=
  forallb accept_evidence evidences && forallb (fun q => negb (used q)) unused
  && forallb (fun x => fst x <? length progs) tagged
  && match all_plans with
     | Some ms => each_launches 0 progs ms && forallb (accept_host_job ms) jobs
     | None => false
     end.

Definition settled (q t F : nat) : Prop := t <= F /\
  forall xs s rest, steps g (empty g) xs s -> Permutation (map item_of (launches xs) ++ rest) all_items ->
  F < now s -> everywhere (fun o => stream o = q -> F < launched_at o) s.
Lemma least_of l F : fold_right least None l = Some F -> In (Some F) l.
Proof.
  revert F. induction l as [|a l IH]; intros F E; [discriminate E|]. simpl in *.
  destruct (fold_right least None l) as [G|], a as [x|]; simpl in E; try discriminate E.
  - injection E as <-. destruct (Nat.min_dec x G) as [->| ->]; [left; reflexivity|right; apply IH; reflexivity].
  - right. apply IH, E.
  - left. exact E.
Qed.
Lemma item_in xs rest o : Permutation (map item_of (launches xs) ++ rest) all_items -> In o (launches xs) ->
  In (item_of o) all_items.
Proof. intros P I. eapply Permutation_in; [exact P|]. apply in_app_iff. left. apply in_map, I. Qed.
Lemma serial_settles top all q t F : accept g top all_items all = true -> settled_by (Serial top all) q t = Some F ->
  settled q t F.
Proof.
  intros A E. simpl in E. destruct (level_of g top q <? top) eqn:U; [|discriminate E]. unfold settled_in in E.
  set (G := match find _ _ with Some _ => _ | None => _ end) in E.
  destruct ((t <=? G) && between_intervals all G) eqn:B; [|discriminate E]. injection E as <-. clearbody G.
  rewrite andb_true_iff, Nat.leb_le in B. destruct B as [Le B]. split; [exact Le|].
  intros xs s rest St Perm Late. unfold between_intervals in B. rewrite forallb_forall in B.
  assert (Each : forall i, In i all -> until i < now s ->
    everywhere (fun o => upper g top o = true -> until i < launched_at o) s).
  { intros i I L. apply (over_after_interval g top all_items all A i I xs s rest St Perm L). }
  assert (Known : forall o, In o (launches xs) -> (forall i, In i all -> until i < now s -> upper g top o = true ->
    until i < launched_at o) -> stream o = q -> G < launched_at o).
  { intros o I Ev So. assert (Uo : upper g top o = true) by (unfold upper; rewrite So; exact U).
    assert (Sm := A). unfold accept in Sm. rewrite !andb_true_iff in Sm. destruct Sm as [[_ Sm] W].
    apply same_eq in Sm. assert (J : In (item_of o) (filter (is_above g top) all_items)).
    { apply filter_In. split; [apply (item_in xs rest o Perm I)|]. exact Uo. }
    rewrite Sm in J. apply in_map_iff in J. destruct J as (x & Ex & J). apply in_flat_map in J.
    destruct J as (k & Ik & Jk). assert (T : from k <= launched_at o /\ launched_at o <= until k).
    { assert (Z := terms_within g top all_items all None W k Ik x Jk). rewrite Ex in Z. exact Z. }
    apply Nat.nle_gt. intros Le'. specialize (B k Ik). rewrite orb_true_iff, Nat.ltb_lt, Nat.leb_le in B.
    specialize (Ev k Ik ltac:(lia) Uo). lia. }
  destruct (launched_somewhere g 0 [] xs s St) as [L1 L2 L3 L4].
  split; intros.
  - apply Known; [eapply L1; eassumption|intros i I L; apply (everywhere_queues _ _ (Each i I L) _ _ _ H H0)|assumption].
  - apply Known; [eapply L2; eassumption|intros i I L; apply (everywhere_ee _ _ (Each i I L) _ _ _ H H0)|assumption].
  - apply Known; [eapply L3; eassumption|intros i I L; apply (everywhere_ce _ _ (Each i I L) _ _ _ H H0)|assumption].
  - apply Known; [eapply L4; eassumption|intros i I L; apply (everywhere_running _ _ (Each i I L) _ H)|assumption].
Qed.
Lemma evidence_settles e q t F : accept_evidence e = true -> settled_by e q t = Some F -> settled q t F.
Proof.
  destruct e as [top all|top scale weights all]; intros A E; [apply (serial_settles top all q t F A E)|].
  simpl in A, E. apply least_of in E. apply in_flat_map in E. destruct E as (s & Is & E). apply in_map_iff in E.
  destruct E as (j & E & Ij). set (G := Nat.min (over_at_last s) (job_due j)) in *.
  destruct ((job_stream j =? q) && (t <=? G)) eqn:B; [|discriminate E]. injection E as <-.
  rewrite andb_true_iff, Nat.eqb_eq, Nat.leb_le in B. destruct B as [<- Le]. split; [exact Le|].
  intros xs u rest St Perm Late.
  apply (proj2 (over_as_shown g top all_items scale weights all A s j Is Ij) xs u rest St Perm Late).
Qed.
Lemma unused_settles q t : used q = false -> settled q t t.
Proof.
  intros U. split; [apply le_n|]. intros xs s rest St Perm _.
  eapply everywhere_weaker; [|apply (launched_somewhere g 0 [] xs s St)]. simpl. intros o I So. exfalso.
  assert (J := item_in xs rest o Perm I). unfold all_items in J. apply in_map_iff in J. destruct J as (x & Ex & J).
  apply Bool.not_true_iff_false in U. apply U. apply existsb_exists. exists x. split; [exact J|]. rewrite Ex.
  apply Nat.eqb_eq, So.
Qed.

(* All that is launched is what all hosts launch. *)
Lemma parted {A} (p : A -> bool) l : Permutation l (filter p l ++ filter (fun x => negb (p x)) l).
Proof.
  induction l as [|x l IH]; simpl; [constructor|]. destruct (p x); simpl; [constructor; exact IH|].
  apply Permutation_cons_app, IH.
Qed.
Lemma by_tags (l : list (nat * item)) : forall n a, (forall x, In x l -> a <= fst x < a + n) ->
  Permutation (map snd l) (flat_map (fun h => map snd (filter (fun x => fst x =? h) l)) (seq a n)).
Proof.
  intros n. revert l. induction n as [|n IH]; intros l a B.
  - destruct l as [|x l]; [constructor|]. specialize (B x (or_introl eq_refl)). lia.
  - simpl. eapply Permutation_trans; [apply Permutation_map, (parted (fun x => fst x =? a))|]. rewrite map_app.
    apply Permutation_app_head. set (m := filter (fun x => negb (fst x =? a)) l).
    rewrite (flat_map_ext' (fun h => map snd (filter (fun x => fst x =? h) l))
      (fun h => map snd (filter (fun x => fst x =? h) m))).
    + apply IH. intros x I. apply filter_In in I. destruct I as [I N]. specialize (B x I). apply negb_true_iff in N.
      apply Nat.eqb_neq in N. lia.
    + intros h I. apply in_seq in I. f_equal. unfold m. clear - I. induction l as [|x l IHl]; [reflexivity|]. simpl.
      destruct (Nat.eqb_spec (fst x) a) as [E|E]; simpl; destruct (Nat.eqb_spec (fst x) h) as [F|F]; try lia;
        rewrite IHl; reflexivity.
Qed.
Lemma plans_are ms : all_plans = Some ms -> map (plan settles) progs = map Some ms.
Proof.
  unfold all_plans. revert ms. induction progs as [|p l IH]; intros ms E; simpl in *; [injection E as <-; reflexivity|].
  destruct (plan settles p) as [m|]; [|discriminate E].
  destruct (fold_right _ _ l) as [k|]; [|discriminate E]. injection E as <-. simpl. rewrite (IH k eq_refl). reflexivity.
Qed.
Lemma launches_are ps : forall ms n, each_launches n ps ms = true -> forall h, h < length ps ->
  map snd (filter (fun x => fst x =? n + h) tagged) = launched_on (nth h ms [Moment true 0]) (nth h ps []).
Proof.
  induction ps as [|p ps IH]; intros [|m ms] n H h L; try discriminate H; [simpl in L; lia|].
  simpl in H. apply andb_true_iff in H. destruct H as [Q H]. apply same_eq in Q. destruct h as [|h].
  - rewrite Nat.add_0_r. exact Q.
  - rewrite Nat.add_succ_r. apply (IH ms (S n) H h). simpl in L. lia.
Qed.

(* In every run with hosts that do these programs, in any order of what they do at one instant, nothing is launched but
   what is listed, all of each job that is shown is over once its time is up, and so is each job of a host, with its
   last call. *)
Theorem accepted_hosts_hold : forall jobs, accept_hosts jobs = true ->
  forall who xs st, exec g (fun h => nth h progs []) who xs st ->
  (exists rest, Permutation (map item_of (launches xs) ++ rest) all_items) /\
  (forall e j o, In e evidences -> In j (shown_jobs e) -> job_due j < clock xs -> left_at g xs o ->
    ~ (stream o = job_stream j /\ launched_at o = job_at j)) /\
  (forall j, In j jobs -> over_at j < clock xs -> next_call j <= done st (of_host j) /\
    forall o, left_at g xs o -> by_host who o = of_host j -> by_call who o < next_call j -> by_call who o < first_call j).
Proof.
  intros jobs H who xs st E. unfold accept_hosts in H. rewrite !andb_true_iff in H. destruct H as [[[Ev Un] Tags] H].
  destruct all_plans as [ms|] eqn:Pl; [|discriminate H]. apply andb_true_iff in H. destruct H as [La Js].
  rewrite forallb_forall in Ev, Un, Tags, Js. assert (Plans := plans_are ms Pl).
  assert (All : Permutation all_items (all_planned progs ms)).
  { unfold all_items. eapply Permutation_trans; [apply (by_tags tagged (length progs) 0)|].
    - intros x I. specialize (Tags x I). apply Nat.ltb_lt in Tags. lia.
    - unfold all_planned. rewrite (flat_map_ext' _ (fun h => ahead progs ms h 0)); [apply Permutation_refl|].
      intros h I. apply in_seq in I. apply (launches_are progs ms 0 La h). lia. }
  assert (Settles : forall q t F, settles q t = Some F -> t <= F /\
    forall xs s rest, steps g (empty g) xs s -> Permutation (map item_of (launches xs) ++ rest) (all_planned progs ms) ->
    F < now s -> everywhere (fun o => stream o = q -> F < launched_at o) s).
  { intros q t F EF. assert (S : settled q t F).
    { unfold settles in EF. destruct (existsb (Nat.eqb q) unused) eqn:X.
      - injection EF as <-. apply existsb_exists in X. destruct X as (p & Ip & Q). apply Nat.eqb_eq in Q. subst p.
        specialize (Un q Ip). apply negb_true_iff in Un. apply unused_settles, Un.
      - apply least_of in EF. apply in_map_iff in EF. destruct EF as (e & EF & Ie).
        apply (evidence_settles e q t F (Ev e Ie) EF). }
    destruct S as [Le Ov]. split; [exact Le|]. intros ys s rest St Perm. apply (Ov ys s rest St).
    eapply Permutation_trans; [exact Perm|apply Permutation_sym, All]. }
  assert (On := runs_on_plan g settles progs ms Plans who Settles xs st E).
  assert (Perm : Permutation (map item_of (launches xs) ++ all_ahead progs ms st) all_items).
  { eapply Permutation_trans; [apply (plan_items _ _ _ _ _ On)|apply Permutation_sym, All]. }
  split; [exists (all_ahead progs ms st); exact Perm|]. split.
  - intros e j o Ie Ij Late (s & St & L). assert (Now := now_is_clock g xs s St). specialize (Ev e Ie).
    destruct e as [top all|top scale weights all]; simpl in Ij, Ev; apply in_flat_map in Ij; destruct Ij as (i & Ii & Ij).
    + apply (everywhere_left _ s o (accepted_certificates_hold g top all_items all Ev i j Ii Ij xs s _ St Perm
        ltac:(lia)) L).
    + apply (everywhere_left _ s o (accepted_shares_hold g top all_items scale weights all Ev i j Ii Ij xs s _ St Perm
        ltac:(lia)) L).
  - intros j Ij Late. specialize (Js j Ij). unfold accept_host_job in Js.
    destruct (Nat.lt_ge_cases (of_host j) (length ms)) as [Lt|Ge].
    + rewrite (nth_indep ms [] [Moment true 0] Lt) in Js.
      apply (ends_in_time g settles progs ms Plans who Settles _ _ _ _ Js xs st E Late).
    + rewrite (nth_overflow ms _ Ge) in Js. unfold ends_by in Js. destruct (next_call j); discriminate Js.
Qed.
End Hosted.
