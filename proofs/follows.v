(* The program of executable.v does what the rules of model.v allow, and nothing else. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model executable.

(* What a test says. *)
Ltac split_tests := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  | H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H
  | H : (_ <? _) = true |- _ => apply Nat.ltb_lt in H
  | H : (_ <=? _) = true |- _ => apply Nat.leb_le in H
  end.

Lemma resources_eqb_eq a b : resources_eqb a b = true -> a = b.
Proof. destruct a, b; unfold resources_eqb; simpl; intros; split_tests; subst; reflexivity. Qed.
Lemma range_eqb_eq a b : range_eqb a b = true -> a = b.
Proof. destruct a, b; unfold range_eqb; simpl; intros; split_tests; subst; reflexivity. Qed.
Lemma work_eqb_eq a b : work_eqb a b = true -> a = b.
Proof.
  destruct a as [? ? ?|? ?| |[|]], b as [? ? ?|? ?| |[|]]; simpl; intros H; try discriminate H; split_tests; subst;
    try reflexivity.
  - rewrite (resources_eqb_eq _ _ H1), (range_eqb_eq _ _ H0); reflexivity.
  - rewrite (range_eqb_eq _ _ H0); reflexivity.
Qed.
Lemma operation_eqb_eq a b : operation_eqb a b = true -> a = b.
Proof.
  destruct a, b; unfold operation_eqb; simpl; intros; split_tests; subst.
  rewrite (work_eqb_eq _ _ H0); reflexivity.
Qed.
Lemma place_eqb_eq a b : place_eqb a b = true <-> a = b.
Proof.
  destruct a, b; simpl; try (split; discriminate); rewrite Nat.eqb_eq; split; congruence.
Qed.
Lemma fitsb_fits need room : fitsb need room = true <-> fits need room.
Proof.
  unfold fitsb, fits, R2, R3, Registers. rewrite !andb_true_iff, !Nat.leb_le. tauto.
Qed.
Lemma withinb_within d r : withinb d r = true <-> within d r.
Proof. unfold withinb, within. rewrite andb_true_iff, !Nat.leb_le. tauto. Qed.

Lemma all_from_spec {A} (p : nat -> A -> bool) (l : list A) : forall q,
  all_from p q l = true <-> forall i x, nth_error l i = Some x -> p (q + i) x = true.
Proof.
  induction l as [|y l IH]; intros q; simpl.
  - split; [intros _ [|i] x E; discriminate E | trivial].
  - rewrite andb_true_iff, IH. split.
    + intros [H K] [|i] x E; simpl in E.
      * injection E as <-. rewrite Nat.add_0_r. exact H.
      * rewrite Nat.add_succ_r. apply (K i x E).
    + intros H. split.
      * rewrite <- (Nat.add_0_r q). apply (H 0 y eq_refl).
      * intros i x E. change (S q + i) with (S (q + i)). rewrite <- Nat.add_succ_r. apply (H (S i) x E).
Qed.

Lemma empty_or_laterb_spec s o other k :
  nth_error (queues s) other = Some k -> (empty_or_laterb o k = true <-> empty_or_later s o other).
Proof.
  intros E. unfold empty_or_laterb, empty_or_later, head_of. destruct k as [b [|h rest]]; simpl.
  - split; [|trivial]. intros _ h [b' [rest' F]]. congruence.
  - rewrite Nat.ltb_lt. split.
    + intros L h' [b' [rest' F]]. rewrite E in F. injection F as <- <- <-. exact L.
    + intros L. apply L. exists b, rest. exact E.
Qed.

Lemma N1b_spec kinds : forall all o,
  N1b kinds all o = true <->
  forall i l k, nth_error kinds i = Some (Stream l true) -> nth_error all i = Some k -> empty_or_laterb o k = true.
Proof.
  induction kinds as [|kind kinds IH]; intros [|k all] o; simpl;
    try (split; [intros _ [|i] l k' E F; try discriminate E; discriminate F | trivial]).
  rewrite andb_true_iff, IH. split.
  - intros [H K] [|i] l k' E F; simpl in E, F.
    + injection E as ->. injection F as <-. exact H.
    + apply (K i l k' E F).
  - intros H. split.
    + destruct kind as [l [|]]; simpl; [apply (H 0 l k eq_refl eq_refl) | reflexivity].
    + intros i l k' E F. apply (H (S i) l k' E F).
Qed.

Lemma E2b_spec s o : E2b s o = true <-> E2 s o.
Proof.
  unfold E2b, E2. destruct (what o) as [? ? ?|? ?| |[r|]];
    try (split; [intros _ r' E; discriminate E | trivial]).
  rewrite forallb_forall. split.
  - intros H r' E q k p F I. injection E as <-. apply nth_error_In in F.
    specialize (H k F). rewrite forallb_forall in H. specialize (H p I).
    apply negb_true_iff, Nat.eqb_neq in H. exact H.
  - intros H k I. apply forallb_forall. intros p J. apply negb_true_iff, Nat.eqb_neq.
    apply In_nth_error in I. destruct I as [q E]. apply (H r eq_refl q k p E J).
Qed.

Lemma goes_spec g s q o : goes g s q o = true <-> N1 g s q o /\ N2 g s q o /\ E2 s o.
Proof.
  unfold goes. rewrite andb_true_iff, E2b_spec.
  assert (match q with 0 => N1b (tl (streams g)) (tl (queues s)) o | S _ => N2b g s q o end = true
          <-> N1 g s q o /\ N2 g s q o) as ->; [|tauto].
  destruct q as [|q].
  - rewrite N1b_spec. split.
    + intros H. split; [|intros N; congruence].
      intros _ [|other] N [l E]; [congruence|]. intros h [b [rest F]].
      assert (G := H other l (Queue b (h :: rest))).
      destruct (streams g) as [|? kinds]; [discriminate E|]. destruct (queues s) as [|? all]; [discriminate F|].
      simpl in *. specialize (G E F). unfold empty_or_laterb in G. simpl in G. apply Nat.ltb_lt, G.
    + intros [H _] i l k E F. destruct (queues s) as [|k0 all] eqn:Q; [destruct i; discriminate F|].
      apply (empty_or_laterb_spec s o (S i)); [rewrite Q; exact F|].
      apply (H eq_refl); [congruence|]. exists l.
      destruct (streams g) as [|? kinds]; [destruct i; discriminate E|]. exact E.
  - unfold N1, N2, N2b, is_blocking. destruct (nth_error (streams g) (S q)) as [[l [|]]|] eqn:E; simpl.
    + destruct (queues s) as [|k all] eqn:Q.
      * split; [|trivial]. intros _. split; [congruence|]. intros _ _ h [b [rest F]]. rewrite Q in F. discriminate F.
      * rewrite (empty_or_laterb_spec s o 0 k); [|rewrite Q; reflexivity]. split.
        { intros H. split; [congruence|]. intros _ _. exact H. }
        { intros [_ H]. apply H; [congruence|]. exists l. reflexivity. }
    + split; [|trivial]. intros _. split; [congruence|]. intros _ [l' F]. congruence.
    + split; [|trivial]. intros _. split; [congruence|]. intros _ [l' F]. congruence.
Qed.

Lemma readyb_spec g s q k :
  nth_error (queues s) q = Some k -> (readyb g s q k = true <-> exists o rest, ready g s q o rest).
Proof.
  intros E. unfold readyb, ready. destruct k as [[|] [|o rest]];
    try (split; [discriminate | intros (o' & rest' & F & _); congruence]).
  rewrite goes_spec. split.
  - intros H. exists o, rest. tauto.
  - intros (o' & rest' & F & H). rewrite E in F. injection F as <- <-. exact H.
Qed.

Lemma all_went_onb_spec g s : all_went_onb g s = true <-> all_went_on g s.
Proof.
  unfold all_went_onb, all_went_on. rewrite all_from_spec. split.
  - intros H q o rest R. assert (E := proj1 R). specialize (H q _ E). simpl in H.
    apply negb_true_iff in H. assert (T : readyb g s q (Queue false (o :: rest)) = true).
    { apply (readyb_spec g s q _ E). exists o, rest. exact R. }
    unfold readyb in T, H. congruence.
  - intros H q k E. simpl. apply negb_true_iff. destruct (readyb g s q k) eqn:T; [|reflexivity].
    apply (readyb_spec g s q k E) in T. destruct T as (o & rest & R). destruct (H _ _ _ R).
Qed.

Lemma firstb_spec g s q o :
  firstb g s q o = true <-> forall q' o' rest', ready g s q' o' rest' -> q' <> q -> number o < number o'.
Proof.
  unfold firstb. rewrite all_from_spec. split.
  - intros H q' o' rest' R N. assert (E := proj1 R). specialize (H q' _ E). simpl in H.
    assert (T : readyb g s q' (Queue false (o' :: rest')) = true).
    { apply (readyb_spec g s q' _ E). exists o', rest'. exact R. }
    unfold readyb in T. rewrite T in H. apply Nat.eqb_neq in N. rewrite N in H. simpl in H. apply Nat.ltb_lt, H.
  - intros H q' k E. simpl. destruct (q' =? q) eqn:N; [reflexivity|]. apply Nat.eqb_neq in N.
    destruct (readyb g s q' k) eqn:T; [|reflexivity]. simpl.
    assert (T' := T). apply (readyb_spec g s q' k E) in T. destruct T as (o' & rest' & R).
    rewrite (proj1 R) in E. injection E as <-. simpl. apply Nat.ltb_lt, (H _ _ _ R N).
Qed.

Lemma idleb_spec s e : idleb s e = true <-> idle s e.
Proof.
  unfold idleb, idle. rewrite forallb_forall. split; intros H r I; specialize (H r I).
  - intros E. rewrite E in H. simpl in H. rewrite Nat.eqb_refl in H. discriminate H.
  - apply negb_true_iff. destruct (place_eqb (on r) (Engine e)) eqn:T; [|reflexivity].
    apply place_eqb_eq in T. contradiction.
Qed.

Lemma beginsb_spec s e k :
  nth_error (ce s) e = Some k -> (beginsb s e k = true <-> exists o rest, may_begin s e o rest).
Proof.
  intros E. unfold beginsb, may_begin. destruct k as [|o rest].
  - split; [discriminate|]. intros (o' & rest' & F & _). congruence.
  - rewrite idleb_spec. split.
    + intros H. exists o, rest. tauto.
    + intros (o' & rest' & _ & H). exact H.
Qed.

Lemma no_copy_beginsb_spec s : no_copy_beginsb s = true <-> no_copy_begins s.
Proof.
  unfold no_copy_beginsb, no_copy_begins. rewrite all_from_spec. split.
  - intros H e o rest R. specialize (H e _ (proj1 R)). simpl in H.
    assert (T : beginsb s e (o :: rest) = true).
    { apply (beginsb_spec s e _ (proj1 R)). exists o, rest. exact R. }
    simpl in T. rewrite T in H. discriminate H.
  - intros H e k E. simpl. apply negb_true_iff. destruct (beginsb s e k) eqn:T; [|reflexivity].
    apply (beginsb_spec s e k E) in T. destruct T as (o & rest & R). destruct (H _ _ _ R).
Qed.

Lemma no_earlier_beginsb_spec s e :
  no_earlier_beginsb s e = true <-> forall e' o' rest', may_begin s e' o' rest' -> e <= e'.
Proof.
  unfold no_earlier_beginsb. rewrite all_from_spec. split.
  - intros H e' o' rest' R. specialize (H e' _ (proj1 R)). simpl in H.
    assert (T : beginsb s e' (o' :: rest') = true).
    { apply (beginsb_spec s e' _ (proj1 R)). exists o', rest'. exact R. }
    simpl in T. rewrite T in H. rewrite orb_false_r in H. apply Nat.leb_le, H.
  - intros H e' k E. simpl. destruct (beginsb s e' k) eqn:T; [|apply orb_true_r].
    apply (beginsb_spec s e' k E) in T. destruct T as (o & rest & R).
    rewrite orb_false_r. apply Nat.leb_le, (H _ _ _ R).
Qed.

Lemma next_from_some all : forall l0 l x rest,
  next_from l0 all = Some (l, x, rest) ->
  exists i, l = l0 + i /\ nth_error all i = Some (x :: rest) /\ forall h, h < i -> nth_error all h = Some [].
Proof.
  induction all as [|[|y k] all IH]; intros l0 l x rest E; simpl in E; try discriminate E.
  - destruct (IH _ _ _ _ E) as (i & -> & F & G). exists (S i). repeat split; [lia|exact F|].
    intros [|h] L; [reflexivity|]. apply G. lia.
  - injection E as <- <- <-. exists 0. repeat split; [lia|]. intros h L. lia.
Qed.
Lemma next_from_found all : forall l0 i x rest,
  nth_error all i = Some (x :: rest) -> (forall h, h < i -> nth_error all h = Some []) ->
  next_from l0 all = Some (l0 + i, x, rest).
Proof.
  induction all as [|k all IH]; intros l0 i x rest E H; [destruct i; discriminate E|].
  destruct i as [|i]; simpl in E.
  - injection E as ->. simpl. rewrite Nat.add_0_r. reflexivity.
  - assert (F := H 0 (Nat.lt_0_succ i)). injection F as ->. simpl.
    rewrite (IH (S l0) i x rest E); [rewrite Nat.add_succ_r; reflexivity|].
    intros h L. apply (H (S h)). lia.
Qed.
Lemma next_from_spec s l o n rest :
  next_from 0 (ee s) = Some (l, (o, n), rest) <-> next_kernel s l o n rest.
Proof.
  unfold next_kernel. split.
  - intros E. destruct (next_from_some _ _ _ _ _ E) as (i & -> & F & G). tauto.
  - intros [E H]. apply (next_from_found _ 0 l _ _ E H).
Qed.

Lemma may_useb_spec g o i : may_useb g o i = true <-> may_use g o i.
Proof.
  unfold may_useb, may_use. rewrite negb_true_iff. split.
  - intros H I. assert (T : existsb (Nat.eqb i) (nth (stream o) (masks g) []) = true); [|congruence].
    apply existsb_exists. exists i. split; [exact I|apply Nat.eqb_refl].
  - intros H. destruct (existsb _ _) eqn:E; [|reflexivity]. apply existsb_exists in E. destruct E as (j & I & E).
    apply Nat.eqb_eq in E. subst j. destruct (H I).
Qed.
Lemma no_block_fitsb_spec g s : no_block_fitsb g s = true <-> no_block_fits g s.
Proof.
  unfold no_block_fitsb, no_block_fits. destruct (next_from 0 (ee s)) as [[[l [o n]] rest]|] eqn:E.
  - apply next_from_spec in E. split.
    + intros H l' o' n' rest' blocks need lasts i room K W M [F G].
      apply next_from_spec in E. apply next_from_spec in K. rewrite K in E. injection E as -> -> -> ->.
      rewrite W in H. rewrite all_from_spec in H. specialize (H i room F). apply may_useb_spec in M.
      apply fitsb_fits in G. simpl in H. rewrite G, M in H. discriminate H.
    + intros H. destruct (what o) as [blocks need lasts|? ?| |?] eqn:W; try reflexivity.
      apply all_from_spec. intros i room F. apply negb_true_iff. simpl.
      destruct (fitsb need room) eqn:T; [|reflexivity]. apply fitsb_fits in T.
      destruct (may_useb g o i) eqn:M; [|reflexivity]. apply may_useb_spec in M.
      destruct (H _ _ _ _ _ _ _ i room E W M). split; assumption.
  - split; [|trivial]. intros _ l' o' n' rest' blocks need lasts i room K. apply next_from_spec in K. congruence.
Qed.

Lemma none_ends_nowb_spec s : none_ends_nowb s = true <-> none_ends_now s.
Proof.
  unfold none_ends_nowb, none_ends_now. rewrite forallb_forall.
  split; intros H r I; specialize (H r I).
  - apply negb_true_iff, Nat.eqb_neq in H. exact H.
  - apply negb_true_iff, Nat.eqb_neq. exact H.
Qed.
Lemma some_ends_now s : none_ends_nowb s = false -> exists r, In r (running s) /\ ends r = now s.
Proof.
  unfold none_ends_nowb. induction (running s) as [|r l IH]; simpl; [discriminate|].
  intros H. apply andb_false_iff in H. destruct H as [H|H].
  - apply negb_false_iff, Nat.eqb_eq in H. exists r. tauto.
  - destruct (IH H) as (x & I & E). exists x. tauto.
Qed.

Lemma overb_spec s o still : overb s o still = true <-> over s o still.
Proof.
  unfold overb, over. rewrite andb_true_iff, !forallb_forall. split; intros [H K]; split.
  - intros r I. specialize (H r I). apply negb_true_iff, Nat.eqb_neq in H. exact H.
  - intros l k n E I. apply nth_error_In in E. specialize (K k E). rewrite forallb_forall in K. specialize (K n I).
    apply negb_true_iff, Nat.eqb_neq in K. exact K.
  - intros r I. apply negb_true_iff, Nat.eqb_neq, (H r I).
  - intros k E. apply forallb_forall. intros n I. apply In_nth_error in E. destruct E as [l E].
    apply negb_true_iff, Nat.eqb_neq, (K l k n E I).
Qed.

Lemma first_end_spec t l : forall before r after,
  first_end t l = Some (before, r, after) ->
  l = before ++ r :: after /\ ends r = t /\ forall b, In b before -> ends b <> t.
Proof.
  induction l as [|x l IH]; intros before r after E; simpl in E; [discriminate E|].
  destruct (ends x =? t) eqn:T.
  - injection E as <- <- <-. apply Nat.eqb_eq in T. repeat split; [exact T|]. intros b [].
  - destruct (first_end t l) as [[[b y] a]|]; [|discriminate E]. injection E as <- <- <-.
    destruct (IH b y a eq_refl) as (-> & F & G). repeat split; [exact F|].
    intros c [<-|I]; [apply Nat.eqb_neq, T|apply G, I].
Qed.

Lemma hosting_spec s : hosting s = true -> turn s = Hosts.
Proof. unfold hosting. destruct (turn s); congruence. Qed.
Lemma completing_spec s : completing s = true -> turn s = Completions.
Proof. unfold completing. destruct (turn s); congruence. Qed.
Lemma dispatching_spec s : dispatching s = true -> turn s = Dispatch.
Proof. unfold dispatching. destruct (turn s); congruence. Qed.

(* The program does only what the rules allow. *)
Theorem exec_follows_the_rules : forall g s x t, exec g s x = Some t -> step g s x t.
Proof.
  intros g s x t E. destruct x as [o|o|o d|o i d|o p| | | |u]; simpl in E.
  - (* Launch *)
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    destruct (nth_error (queues s) (stream o)) as [[b before]|] eqn:Q; [|discriminate E]. injection E as <-.
    apply G1; try assumption; [apply hosting_spec; assumption|apply all_went_onb_spec; assumption|].
    intros n l W. rewrite W in *. discriminate.
  - (* GoOn *)
    unfold go_on in E. destruct (nth_error (queues s) (stream o)) as [[[|] [|h rest]]|] eqn:Q; try discriminate E.
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    assert (h = o) as -> by (apply operation_eqb_eq; assumption).
    assert (F : first_ready g s (stream o) o rest).
    { split; [split; [exact Q|apply goes_spec; assumption]|apply firstb_spec; assumption]. }
    destruct (what o) as [n need lasts|e lasts| |r] eqn:W.
    + destruct (nth_error (streams g) (stream o)) as [[l b]|] eqn:K; [|discriminate E]. simpl in E.
      destruct (nth_error (ee s) l) as [before|] eqn:B; [|discriminate E]. injection E as <-.
      eapply G2_A1; eassumption.
    + destruct (nth_error (ce s) e) as [before|] eqn:B; [|discriminate E]. injection E as <-.
      eapply C1; eassumption.
    + injection E as <-. apply E1; [exact F|]. left. exact W.
    + injection E as <-. apply E1; [exact F|]. right. exists r. exact W.
  - (* Begin *)
    destruct (what o) as [? ? ?|e lasts| |?] eqn:W; try discriminate E.
    destruct (nth_error (ce s) e) as [[|h rest]|] eqn:Q; try discriminate E.
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    assert (h = o) as -> by (apply operation_eqb_eq; assumption). injection E as <-.
    eapply C2_C3; [apply dispatching_spec; assumption| | |exact W|apply withinb_within; assumption].
    + split; [exact Q|apply idleb_spec; assumption].
    + apply no_earlier_beginsb_spec; assumption.
  - (* Assign *)
    destruct (next_from 0 (ee s)) as [[[l [h [|n]]] rest]|] eqn:Q; try discriminate E.
    destruct (what o) as [blocks need lasts|? ?| |?] eqn:W; try discriminate E.
    destruct (nth_error (free s) i) as [room|] eqn:F; [|discriminate E].
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    assert (h = o) as -> by (apply operation_eqb_eq; assumption). injection E as <-.
    eapply X1_A2_R1; [apply dispatching_spec; assumption|apply no_copy_beginsb_spec; assumption| |exact W|
                      apply may_useb_spec; assumption| |apply withinb_within; assumption].
    + apply next_from_spec, Q.
    + split; [exact F|apply fitsb_fits; assumption].
  - (* End *)
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    destruct (first_end (now s) (running s)) as [[[before r] after]|] eqn:F; [|discriminate E].
    destruct (first_end_spec _ _ _ _ _ F) as (R & T & B).
    match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    assert (of r = o) as <- by (apply operation_eqb_eq; assumption).
    assert (on r = p) as <- by (apply place_eqb_eq; assumption).
    assert (turn s = Completions) by (apply completing_spec; assumption).
    assert (all_went_on g s) by (apply all_went_onb_spec; assumption).
    destruct (overb s (of r) (before ++ after)) eqn:O.
    + apply overb_spec in O.
      destruct (nth_error (queues s) (stream (of r))) as [[[|] [|h rest]]|] eqn:Q; try discriminate E.
      destruct (operation_eqb h (of r)) eqn:H'; [|discriminate E]. apply operation_eqb_eq in H'. subst h.
      injection E as <-. eapply Ends_G4_C4; eassumption.
    + injection E as <-. apply Ends; try assumption. intros V. apply overb_spec in V. congruence.
  - match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    injection E as <-. apply To_hosts;
      [apply completing_spec|apply all_went_onb_spec|apply none_ends_nowb_spec]; assumption.
  - match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    injection E as <-. apply To_dispatch; [apply hosting_spec|apply all_went_onb_spec]; assumption.
  - match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    injection E as <-. assert (N : none_ends_nowb s = false) by (apply negb_true_iff; assumption).
    destruct (some_ends_now s N) as (r & I & T).
    eapply Zero_length; [apply dispatching_spec|apply no_copy_beginsb_spec|apply no_block_fitsb_spec|exact I|exact T];
      assumption.
  - match type of E with (if ?c then _ else _) = _ => destruct c eqn:C; [|discriminate E] end. split_tests.
    injection E as <-. apply Time; [apply dispatching_spec|apply no_copy_beginsb_spec|apply no_block_fitsb_spec|
      apply none_ends_nowb_spec| |]; try assumption.
    rewrite forallb_forall in H0. intros r I. apply Nat.leb_le, (H0 r I).
Qed.

Lemma eqb_refl_all a : operation_eqb a a = true.
Proof.
  assert (R : forall r, resources_eqb r r = true) by (intros; unfold resources_eqb; rewrite !Nat.eqb_refl; reflexivity).
  assert (G : forall r, range_eqb r r = true) by (intros; unfold range_eqb; rewrite !Nat.eqb_refl; reflexivity).
  unfold operation_eqb. rewrite !Nat.eqb_refl. simpl.
  destruct (what a) as [? ? ?|? ?| |[?|]]; simpl; rewrite ?Nat.eqb_refl, ?R, ?G; reflexivity.
Qed.
Lemma place_eqb_refl p : place_eqb p p = true.
Proof. apply place_eqb_eq. reflexivity. Qed.
Lemma first_end_found t before : forall r after,
  ends r = t -> (forall b, In b before -> ends b <> t) ->
  first_end t (before ++ r :: after) = Some (before, r, after).
Proof.
  induction before as [|x l IH]; intros r after E N; simpl.
  - rewrite (proj2 (Nat.eqb_eq _ _) E). reflexivity.
  - rewrite (proj2 (Nat.eqb_neq _ _) (N x (or_introl eq_refl))), IH; [reflexivity|exact E|].
    intros b I. apply N. right. exact I.
Qed.
Lemma none_ends_nowb_false s r : In r (running s) -> ends r = now s -> none_ends_nowb s = false.
Proof.
  intros I E. destruct (none_ends_nowb s) eqn:T; [|reflexivity].
  apply none_ends_nowb_spec in T. destruct (T r I E).
Qed.

(* The program does all that the rules allow: what it refuses is against them. *)
Theorem exec_does_what_the_rules_allow : forall g s x t, step g s x t -> exec g s x = Some t.
Proof.
  intros g s x t H. destruct H; simpl; unfold go_on;
    repeat match goal with
    | K : turn s = _ |- _ =>
        first [assert (completing s = true) as -> by (unfold completing; rewrite K; reflexivity)
              |assert (hosting s = true) as -> by (unfold hosting; rewrite K; reflexivity)
              |assert (dispatching s = true) as -> by (unfold dispatching; rewrite K; reflexivity)]; clear K
    | K : all_went_on g s |- _ => apply all_went_onb_spec in K; rewrite K; clear K
    | K : no_copy_begins s |- _ => apply no_copy_beginsb_spec in K; rewrite K; clear K
    | K : no_block_fits _ s |- _ => apply no_block_fitsb_spec in K; rewrite K; clear K
    | K : none_ends_now s |- _ => apply none_ends_nowb_spec in K; rewrite K; clear K
    | K : first_ready g s _ _ _ |- _ =>
        destruct K as [[Q K] F]; apply goes_spec in K; apply firstb_spec in F; rewrite Q, K, F, eqb_refl_all; clear K F
    | K : running s = _ ++ _ :: _ |- _ =>
        rewrite K, (first_end_found (now s)), eqb_refl_all, place_eqb_refl by assumption; clear K
    end; simpl.
  - match goal with K : over _ _ _ |- _ => apply overb_spec in K; rewrite K end.
    match goal with K : nth_error (queues s) _ = _ |- _ => rewrite K, eqb_refl_all end. reflexivity.
  - destruct (overb s (of r) (before ++ after)) eqn:T; [|reflexivity].
    apply overb_spec in T. contradiction.
  - reflexivity.
  - match goal with K : number o = _, L : launched_at o = _, Q : nth_error _ _ = _ |- _ =>
      rewrite K, L, !Nat.eqb_refl, Q end. simpl.
    destruct (what o) as [[|?] ? ?|? ?| |?] eqn:W; try reflexivity.
    match goal with K : forall n l, Kernel 0 _ _ <> Kernel 0 n l |- _ => destruct (K _ _ eq_refl) end.
  - reflexivity.
  - match goal with W : what o = _, S : nth_error (streams g) _ = _, B : nth_error (ee s) _ = _ |- _ => rewrite W, S;
    simpl; rewrite B end.
    reflexivity.
  - match goal with W : what o = _, B : nth_error (ce s) _ = _ |- _ => rewrite W, B end. reflexivity.
  - match goal with W : _ \/ _ |- _ => destruct W as [W|[r W]]; rewrite W end; reflexivity.
  - match goal with M : may_begin s e o rest, W : what o = _ |- _ => destruct M as [M I]; apply idleb_spec in I;
    rewrite W, M, I end.
    match goal with K : forall e' o' rest', _ |- _ => apply no_earlier_beginsb_spec in K; rewrite K end.
    match goal with K : within _ _ |- _ => apply withinb_within in K; rewrite eqb_refl_all, K end. reflexivity.
  - match goal with K : next_kernel _ _ _ _ _, W : what o = _, M : may_use _ _ _, R : R1 _ _ _ _ |- _ =>
      apply next_from_spec in K; destruct R as [R F]; apply fitsb_fits in F; apply may_useb_spec in M;
      rewrite K, W, R, F, M end.
    match goal with K : within _ _ |- _ => apply withinb_within in K; rewrite eqb_refl_all, K end. reflexivity.
  - rewrite (none_ends_nowb_false s r) by assumption. reflexivity.
  - match goal with K : now s < t |- _ => apply Nat.ltb_lt in K; rewrite K end.
    assert (F : forallb (fun r => t <=? ends r) (running s) = true).
    { apply forallb_forall. intros r I. apply Nat.leb_le. auto. }
    rewrite F. reflexivity.
Qed.

Theorem accepted_runs_follow_the_rules : forall g xs t, exec_all g (empty g) xs = Some t -> steps g (empty g) xs t.
Proof.
  intros g xs. generalize (empty g). induction xs as [|x xs IH]; intros s t E; simpl in E.
  - injection E as <-. constructor.
  - destruct (exec g s x) as [u|] eqn:F; [|discriminate E].
    econstructor; [apply exec_follows_the_rules; exact F|apply IH, E].
Qed.

Theorem refused_runs_break_the_rules : forall g xs, exec_all g (empty g) xs = None -> forall t, ~ steps g (empty g) xs
  t.
Proof.
  intros g xs. generalize (empty g). induction xs as [|x xs IH]; intros s E t H; simpl in E; [discriminate E|].
  inversion H; subst. rewrite (exec_does_what_the_rules_allow g s x _ H3) in E. apply (IH _ E _ H5).
Qed.
