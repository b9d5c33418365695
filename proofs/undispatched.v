(* What is known of all runs in which certain kernels are dispatched goes on to hold until the next one is. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial closed busy next entries explored.

Section Undispatched.
Variables (g : device) (all : list operation).
Hypothesis K : kernels all.
Variables explored given_up : abstract -> Prop.
Hypothesis E : exploration g all explored given_up.
Local Notation level_of o := (level_of g 0 (stream o)).
Local Notation waits_for := (waits_for g).
Local Notation inv := (inv g all).
Local Notation holds := (holds g all).
Local Notation eligible := (eligible g all).
Local Notation earliest := (earliest g all).
Local Notation latest := (latest g all).
Local Notation may_be_next := (may_be_next g all).
Local Notation latest_of_le := (latest_of_le g all).
Local Notation same_number := (same_number g all K).
Local Notation done_runs := (done_runs g all K).
Local Notation head_early := (head_early g all K).
Local Notation ee_eligible := (ee_eligible g all K).
Local Notation prompt := (prompt g all).
Local Notation prompt_entered := (prompt_entered g all K).
Local Notation may_precede_new := (may_precede_new g all K).
Local Notation not_entered := (not_entered g all).
Local Notation not_later := (not_later g all explored given_up E).

(* Where only time or what runs changed, or something went on that was dispatched before. *)
Lemma late_fewer k u before r after : late k u (before ++ after) <= late k u (before ++ r :: after).
Proof. rewrite !late_app. change (r :: after) with ([r] ++ after). rewrite late_app. lia. Qed.
Lemma on_sms_fewer k before r after : on_sms k (before ++ after) <= on_sms k (before ++ r :: after).
Proof. rewrite !on_sms_app. change (r :: after) with ([r] ++ after). rewrite on_sms_app. lia. Qed.

(* A block ends. *)
Lemma holds_end A before s t l r k : holds A before s -> running s = l ++ r :: k -> running t = l ++ k ->
  ends r = now s -> now t = now s -> ee t = ee s -> launched t = launched s ->
  (forall o, In o all -> pending t o -> pending s o) ->
  (forall o, In o all -> pending t o -> at_head s o -> at_head t o) -> (forall o, at_head t o -> at_head s o) ->
  (forall o, In o before -> ~ In (number o) (done A) -> pending s o -> pending t o) -> holds A before t.
Proof.
  intros H R R' Er N Ee L P1 P2 P3 P4.
  assert (Sub : forall b, In b (running t) -> In b (running s)).
  { intros b I. rewrite R' in I. rewrite R. apply in_app_iff in I. apply in_app_iff. simpl. tauto. }
  assert (Lt : forall m u, late m u (running t) <= late m u (running s)) by (intros; rewrite R, R'; apply late_fewer).
  assert (On : forall m, on_sms m (running t) <= on_sms m (running s)) by (intros; rewrite R, R'; apply on_sms_fewer).
  what_holds H. split; unfold in_ee, next_kernel in *; try rewrite N; try rewrite Ee; try rewrite L; try assumption.
  - intros o I D. destruct (h_done o I D) as (B & C & F). split; [exact B|]. split; [exact C|].
    intros P. apply P2; auto.
  - intros o I D. destruct (h_open o I D) as (B & C). split; [auto|]. intros F. apply C, P3, F.
  - intros b I D. apply h_over_by; auto.
  - intros o I D. destruct (h_over_from o I D) as [B|(b & J & Z & B)]; [left; exact B|].
    rewrite R in J. apply in_app_iff in J. destruct J as [J|[<-|J]].
    + right. exists b. rewrite R'. split; [apply in_app_iff; left; exact J|tauto].
    + left. lia.
    + right. exists b. rewrite R'. split; [apply in_app_iff; right; exact J|tauto].
  - intros m u D Lu. eapply Nat.le_trans; [apply Lt|apply h_runs; assumption].
  - intros x Ex Pr Nx. destruct (h_prompt x Ex Pr Nx) as (B & C & G). split; [exact B|]. split; [exact C|].
    intros La. right. destruct (G La) as [Z|[Y Z]]; [rewrite R in Z; destruct l; discriminate Z|].
    split; [exact Y|]. intros b I. apply Z, Sub, I.
  - intros q m o n F I. destruct (h_count q m o n F I) as [B C]. split; [exact B|]. specialize (On (number o)). lia.
  - intros q y m o n F I. specialize (h_behind q y m o n F I). specialize (On (number o)). lia.
  - intros q o n rest F. destruct (h_head q o n rest F) as (M & m & Z & B & C). split; [exact M|]. exists m.
    split; [exact Z|]. split; [exact B|]. intros u. eapply Nat.le_trans; [apply Lt|apply C].
  - intros q o n rest b F I. apply (h_lower q o n rest b F), Sub, I.
Qed.

Section Steps.
Variables (A : abstract) (before : list operation) (s : state).
Hypotheses (X : explored A) (V : inv before s) (H : holds A before s).
Let S := inv_sound _ _ _ _ V.

(* A launch. *)
Lemma holds_launch o t : step g s (Launch o) t -> In o all -> inv (before ++ [o]) t -> holds A (before ++ [o]) t.
Proof.
  intros St Io V'. inversion St; subst. rename H2 into Went, H3 into No, H6 into Q.
  assert (Up : forall p, at_head s p -> exists rest, nth_error (update (stream o) (Queue b (before0 ++ [o])) (queues
    s))
    (stream p) = Some (Queue true (p :: rest))).
  { intros p [rest F]. destruct (Nat.eq_dec (stream o) (stream p)) as [Z|Z].
    - rewrite <- Z, Q in F. injection F as -> ->. exists (rest ++ [o]). rewrite <- Z. apply (update_same _ _ _ _ Q).
    - exists rest. rewrite update_other by exact Z. exact F. }
  assert (Pend : forall p, pending s p -> exists k, nth_error (update (stream o) (Queue b (before0 ++ [o])) (queues
    s))
    (stream p) = Some k /\ In p (waiting k)).
  { intros p (k & F & I). destruct (Nat.eq_dec (stream o) (stream p)) as [Z|Z].
    - rewrite <- Z, Q in F. injection F as <-. exists (Queue b (before0 ++ [o])). rewrite <- Z.
      split; [apply (update_same _ _ _ _ Q)|]. simpl in *. apply in_app_iff. left. exact I.
    - exists k. rewrite update_other by exact Z. tauto. }
  assert (Low : forall p, pending s p -> number p < launched s).
  { intros p (k & F & I). apply (order_launched g s (sound_order _ _ _ _ S) _ _ p F I). }
  assert (H0 := H). what_holds H. split; try assumption.
  - intros p I D. destruct (h_done p I D) as (B & C & F). split; [simpl; lia|]. split; [exact C|].
    intros P. apply Up, F. destruct (pending_after g s _ _ p (sound_order _ _ _ _ S) St P) as [P'|Z]; [exact P'|].
    injection Z as ->. lia.
  - intros p I D. assert (Hd : at_head (State (now s) (turn s) (Datatypes.S (launched s))
      (update (stream o) (Queue b (before0 ++ [o])) (queues s)) (ee s) (ce s) (running s) (free s)) p -> at_head s p).
    { intros F. destruct (head_after g s _ _ p (sound_order _ _ _ _ S) St F) as [F'|Z]; [exact F'|discriminate Z]. }
    apply in_app_iff in I. destruct I as [I|[<-|[]]].
    + destruct (h_open p I D) as (B & C). split; [apply Pend, B|]. intros F. apply C, Hd, F.
    + split.
      * exists (Queue b (before0 ++ [o])). simpl. rewrite (update_same _ _ _ _ Q). split; [reflexivity|].
        apply in_app_iff. right. left. reflexivity.
      * intros F. assert (Y := Low o (pending_head s o (Hd F))). lia.
  - intros x Ex Pr Nx. destruct (h_prompt x Ex Pr Nx) as (B & C & G). split; [exact B|]. split; [|exact G].
    intros Bx. apply in_app_iff in Bx. destruct Bx as [Bx|[<-|[]]]; [exfalso|simpl; congruence].
    apply Nx, (prompt_entered A before s V H0 x Went Ex Pr Bx).
Qed.

(* A kernel enters its EE queue. *)
Lemma holds_go_on o t : step g s (GoOn o) t -> holds A before t.
Proof.
  intros St. assert (Kind : exists n need lasts, what o = Kernel (Datatypes.S n) need lasts).
  { inversion St; subst; match goal with R : first_ready _ _ _ _ _ |- _ => destruct R as [[F0 _] _] end;
    apply (kernels_only all K), (everywhere_queues _ s (sound_all _ _ _ _ S) _ _ o F0); left; reflexivity. }
  destruct Kind as (n0 & need0 & lasts0 & W0).
  inversion St; subst; try congruence;
    try (match goal with W : _ \/ _ |- _ => destruct W as [W|[? W]]; congruence end).
  rename H1 into Fr, H2 into W, H3 into St0, H4 into Q.
  assert (W' := W0). rewrite W in W'. injection W' as -> -> ->. clear W0.
  assert (Rd := proj1 Fr). assert (F0 := proj1 Rd).
  assert (Po : pending s o) by (exists (Queue false (o :: rest)); split; [exact F0|left; reflexivity]).
  assert (Io : In o all) by (apply (everywhere_queues _ s (sound_all _ _ _ _ S) _ _ o F0); left; reflexivity).
  assert (No : ~ at_head s o) by (intros [r F]; congruence).
  assert (Ne : ~ in_ee s o).
  { intros (l' & k & n & F & I). apply No. apply (ee_facts g all _ _ _ _ _ _ V F I). }
  assert (Lv : level_of o = l) by (unfold level_of; rewrite St0; reflexivity).
  assert (Lo : number o < launched s) by (apply (order_launched g s (sound_order _ _ _ _ S) _ _ o F0); left;
    reflexivity).
  assert (Nd : ~ In (number o) (done A)).
  { intros D. destruct (holds_done H o Io D) as (_ & _ & F). destruct (No (F Po)). }
  assert (El : eligible A o).
  { split; [exact Io|]. split; [exact Nd|]. intros p Ip Wp.
    assert (N := ready_is_free g s o rest p (sound_kept _ _ _ _ S) (sound_order _ _ _ _ S) Rd Wp).
    destruct (in_dec Nat.eq_dec (number p) (done A)) as [D|D]; [exact D|]. exfalso. apply N.
    apply (holds_open H); [|exact D]. apply (earlier_is_launched g all K _ _ p V Ip).
    unfold entries.waits_for in Wp. apply andb_true_iff in Wp. destruct Wp as [Wp _]. apply Nat.ltb_lt in Wp. lia. }
  assert (Early : earliest A o <= now s).
  { apply (proj2 (latest_of_le (over_from A) o (now s))). split;
    [apply (sound_past _ _ _ _ S), (earlier_is_launched g all K _ _ o V Io Lo)|].
    intros p Ip Wp. assert (N := ready_is_free g s o rest p (sound_kept _ _ _ _ S) (sound_order _ _ _ _ S) Rd Wp).
    destruct (holds_over_from H p Ip (proj2 (proj2 El) p Ip Wp)) as [Z|(r & J & <- & _)]; [exact Z|].
    destruct (N (pending_head s _ (proj1 (run_facts g all K _ _ r V J)))). }
  assert (Bo : In o before) by apply (earlier_is_launched g all K _ _ o V Io Lo).
  assert (Runs0 : on_sms (number o) (running s) = 0).
  { apply on_sms_none. intros r J E'. apply No. rewrite <- (same_number before s V o r Io J E').
    apply (run_facts g all K _ _ r V J). }
  set (t := State (now s) (turn s) (launched s) (update (stream o) (Queue true (o :: rest)) (queues s))
         (update l (before0 ++ [(o, Datatypes.S n0)]) (ee s)) (ce s) (running s) (free s)) in *.
  assert (New : forall l' k y, nth_error (ee t) l' = Some k -> In y k -> y = (o, Datatypes.S n0) \/
    exists k', nth_error (ee s) l' = Some k' /\ In y k').
  { intros l' k y F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|right; exists k; tauto].
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [right; exists before0; tauto|left; reflexivity]. }
  assert (Old : forall p, in_ee s p -> in_ee t p).
  { intros p (l' & k & n & F & I). destruct (stays _ _ _ (o, Datatypes.S n0) _ _ _ Q F I) as (k' & F' & I').
    exists l', k', n. tauto. }
  assert (In_t : in_ee t o).
  { exists l, (before0 ++ [(o, Datatypes.S n0)]), (Datatypes.S n0). split; [apply (update_same _ _ _ _ Q)|].
    apply in_app_iff. right. left. reflexivity. }
  assert (Now : now s <= latest A o).
  { destruct (Nat.le_gt_cases (now s) (latest A o)) as [L|L]; [exact L|]. destruct (Ne (holds_entered H o El L)). }
  assert (Head : forall l1 o1 n1 rest1, next_kernel t l1 o1 n1 rest1 -> (exists rest', next_kernel s l1 o1 n1 rest')
    \/
    (l1 = l /\ o1 = o /\ n1 = Datatypes.S n0 /\ now s <= entered A l /\ forall h, h <= l -> nth_error (ee s) h = Some
      [])).
  { intros l1 o1 n1 rest1 N. destruct (next_entered s t l _ _ l1 o1 n1 rest1 Q eq_refl N) as [Z|(-> & Z & Z')];
      [left; exact Z|right]. injection Z as -> ->. repeat split; [|exact Z'].
    apply (not_later A before s X V H l o El Lv Z'). }
  assert (Hd : forall p, at_head t p -> at_head s p \/ p = o).
  { intros p F. destruct (head_after g s _ _ p (sound_order _ _ _ _ S) St F) as [F'|Z]; [left; exact F'|right].
    congruence. }
  assert (Pd : forall p, pending s p -> pending t p).
  { intros p (k & F & I). destruct (Nat.eq_dec (stream o) (stream p)) as [Z|Z].
    - exists (Queue true (o :: rest)). simpl. rewrite <- Z. rewrite <- Z, F0 in F. injection F as <-.
      split; [apply (update_same _ _ _ _ F0)|exact I].
    - exists k. simpl. rewrite update_other by exact Z. tauto. }
  assert (H' := H). what_holds H'. split; try assumption.
  - intros p I D. destruct (h_done p I D) as (B & C & F). split; [exact B|]. split.
    + intros (l' & k & n & G & J). destruct (New l' k _ G J) as [Z|(k' & G' & J')].
      * injection Z as -> _. exact (Nd D).
      * apply C. exists l', k', n. tauto.
    + intros P. destruct (pending_after g s _ _ p (sound_order _ _ _ _ S) St P) as [P'|Z]; [|discriminate Z].
      destruct (F P') as [rest' G]. exists rest'. simpl. rewrite update_other; [exact G|]. intros Z. congruence.
  - intros p I D. destruct (h_open p I D) as (B & C). split; [apply Pd, B|]. intros F.
    destruct (Hd p F) as [F'| ->]; [apply Old, C, F'|exact In_t].
  - intros x Ex L. apply Old, h_entered; assumption.
  - intros l' k a i b' x c F Z. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']];
      [|apply (h_queue l' k a i b' x c F' Z)].
    rewrite map_app in Z. simpl in Z. destruct c as [|y c _] using rev_ind.
    + assert (Z' : map fst before0 ++ [o] = (a ++ i :: b') ++ [x]) by (rewrite Z, <- app_assoc; reflexivity).
      apply app_inj_tail in Z'. destruct Z' as [Z' <-].
      assert (I : In i (map fst before0)) by (rewrite Z'; apply in_elt).
      apply in_map_iff in I. destruct I as ([i' n] & <- & I).
      destruct (ee_facts g all _ _ _ _ _ _ V Q I) as (Hi & _ & Ii & _).
      apply (may_precede_new A before s V H); try assumption.
      * apply (ee_eligible A before s V H _ _ _ _ Q I).
      * apply (ee_facts g all _ _ _ _ _ _ V Q I).
      * apply (head_early A before s V H i' Hi Ii).
      * intros Z0. apply No. rewrite Z0. exact Hi.
    + assert (Z' : map fst before0 ++ [o] = (a ++ i :: b' ++ x :: c) ++ [y])
        by (rewrite Z; rewrite <- !app_assoc; simpl; rewrite <- app_assoc; reflexivity).
      apply app_inj_tail in Z'. destruct Z' as [Z' _]. apply (h_queue l before0 a i b' x c Q Z').
  - intros x Ex Pr Nx. apply (h_prompt x Ex Pr). intros Y. apply Nx, Old, Y.
  - intros l' k p n F I. destruct (New l' k _ F I) as [Z|(k' & F' & I')]; [|apply (h_itself l' k' p n F' I')].
    injection Z as -> _. lia.
  - intros l' k F. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|apply (h_once l' k F')].
    rewrite map_app. apply NoDup_app_one; [apply (h_once l before0 Q)|]. simpl. intros I.
    apply in_map_iff in I. destruct I as ([p n] & Z & I). simpl in Z. subst p. apply Ne. exists l, before0, n. tauto.
  - intros l' k p n F I. destruct (New l' k _ F I) as [Z|(k' & F' & I')]; [|apply (h_count l' k' p n F' I')].
    injection Z as -> ->. split; [lia|]. change (running t) with (running s). rewrite Runs0. unfold blocks_of.
    rewrite W. lia.
  - intros l' y k p n F I. destruct (update_cases _ _ _ _ _ F) as [[<- Z]|[_ F']];
      [|apply (h_behind l' y k p n F' I)].
    destruct before0 as [|z before0]; [injection Z as -> ->; destruct I|]. injection Z as -> ->.
    apply in_app_iff in I. destruct I as [I|[I|[]]]; [apply (h_behind l z before0 p n Q I)|].
    injection I as <- _. exact Runs0.
  - intros l1 o1 n1 rest1 N. destruct (Head _ _ _ _ N) as [[rest' N']|(-> & -> & -> & Le & Z)];
      [apply (h_head _ _ _ _ N')|].
    assert (May : may_be_next A o).
    { split; [exact El|]. rewrite Lv. split; [lia|]. intros x Ex Lx Nx.
      apply (may_precede_new A before s V H); try assumption. intros (l' & k & n & F & I).
      destruct (ee_facts g all _ _ _ _ _ _ V F I) as (_ & Lx' & _). rewrite (Z l' ltac:(lia)) in F.
      injection F as <-. destruct I. }
    split; [exact May|]. exists 0. split; [unfold blocks_of; rewrite W; reflexivity|]. split.
    + assert (B := starts_after (computed_starts (explored_computed E A X) o May) 0).
      rewrite Lv in B. unfold blocks_of in B. rewrite W in B. specialize (B ltac:(lia)). simpl. lia.
    + intros u. simpl. assert (L := late_on_sms (number o) u (running s)). lia.
  - intros l1 o1 n1 rest1 r N I D Nr. destruct (Head _ _ _ _ N) as [[rest' N']|(-> & -> & -> & Le & Z)];
      [apply (h_lower _ _ _ _ r N' I D Nr)|].
    destruct (run_facts g all K _ _ r V I) as (Hr & Ir & _).
    assert (Br : In (of r) before).
    { apply (earlier_is_launched g all K _ _ _ V Ir). destruct Hr as [rr Fr0].
      apply (order_launched g s (sound_order _ _ _ _ S) _ _ (of r) Fr0). left. reflexivity. }
    destruct (proj2 (h_open (of r) Br D) Hr) as (l2 & k2 & n2 & F2 & I2).
    destruct (ee_facts g all _ _ _ _ _ _ V F2 I2) as (_ & L2 & _).
    assert (Lt : l < l2).
    { destruct (Nat.lt_ge_cases l l2) as [Lt|Ge]; [exact Lt|]. rewrite (Z l2 Ge) in F2. injection F2 as <-.
      destruct I2. }
    split; [lia|]. unfold last_begun. rewrite Lv. assert (Sh := kept_short (sound_kept _ _ _ _ S) r I).
    assert (Er := head_early A before s V H (of r) Hr Ir). change (now t) with (now s) in *.
    change (running t) with (running s) in I.
    destruct (Nat.ltb_spec (entered A l) (from A)) as [Y|Y]; [lia|]. cbn [orb].
    destruct (prompt A o) eqn:Pr.
    + destruct (proj2 (proj2 (h_prompt o El Pr Ne)) (sound_past _ _ _ _ S o Bo)) as [G|[G R]];
        [rewrite G in I; destruct I|]. destruct (R r I) as [R1 R2]. specialize (R2 D).
      destruct (Nat.eqb_spec (entered A l) (from A)) as [Y'|Y']; [lia|]. cbn [andb].
      eexists. split; [reflexivity|]. destruct (begun A (level_of (of r))); lia.
    + rewrite andb_false_r. eexists. split; [reflexivity|]. destruct (begun A (level_of (of r))); lia.
Qed.

(* Time passes. *)
Lemma holds_time u t : step g s (Until u) t -> (forall o, In o all -> launched_at o < u -> In o before) ->
  holds A before t.
Proof.
  intros St OnT. inversion St; subst. rename H1 into Td, H3 into NB, H5 into Lt, H6 into Al.
  assert (Went := usage_dispatch g s (sound_usage _ _ _ _ S) Td).
  assert (H' := H). what_holds H'. split; try assumption.
  - simpl. lia.
  - intros o I D. destruct (h_over_from o I D) as [Z|Z]; [left; simpl; lia|right; exact Z].
  - intros x Ex L. simpl in L. change (in_ee s x).
    destruct (proj1 (latest_of_le (over_by A) x (latest A x)) (le_n _)) as [La Pr].
    assert (Bx : In x before) by (apply OnT; [apply Ex|lia]).
    destruct (h_open x Bx (proj1 (proj2 Ex))) as [Px Hx]. apply Hx.
    apply (free_has_gone_on g all K s x (sound_kept _ _ _ _ S) (sound_order _ _ _ _ S) (sound_all _ _ _ _ S) Went
      (proj1 Ex) Px).
    intros p Ip Wp Pp. assert (D := proj2 (proj2 Ex) p Ip Wp).
    destruct (done_runs A before s V H p Ip D Pp) as (r & I & <-).
    assert (Y := h_over_by r I D). specialize (Pr _ Ip Wp). specialize (Al r I). lia.
  - intros x Ex Pr Nx. destruct (h_prompt x Ex Pr Nx) as (B & C & _). split; [exact B|]. split; [exact C|].
    intros _. right. split; [simpl; lia|]. intros r I. simpl. assert (Sh := kept_short (sound_kept _ _ _ _ S) r I).
    split; [lia|]. intros _. destruct (run_facts g all K _ _ r V I) as (Hr & Ir & _).
    assert (Er := head_early A before s V H (of r) Hr Ir). lia.
  - intros l o n rest N. change (next_kernel s l o n rest) in N.
    destruct (h_head l o n rest N) as (May & m & Z & L & C). split; [exact May|]. exists m. split; [exact Z|].
    split; [|exact C]. simpl. destruct (Nat.le_gt_cases u (start_of A o m)) as [Y|Y]; [exact Y|exfalso].
    destruct N as [F N]. destruct (h_count _ _ _ _ F (or_introl eq_refl)) as [Pn _].
    destruct (ee_facts g all _ _ _ _ _ _ V F (or_introl eq_refl)) as (_ & Lv & Io & _).
    assert (Ended : forall r, In r (running s) -> start_of A o m < ends r) by (intros r I; specialize (Al r I); lia).
    assert (B := computed_starts (explored_computed E A X) o May).
    destruct (starts_room B m) with (s := s) (before := before) as (i & room & U & R).
    + lia.
    + exact V.
    + split.
      * rewrite <- (late_all _ (start_of A o m) _ Ended). apply C.
      * intros k D. rewrite <- (late_all _ (start_of A o m) _ Ended). apply h_runs; [exact D|].
        apply (starts_after B m). lia.
      * intros r I D Nr. destruct (h_lower _ _ _ _ r (conj F N) I D Nr) as (Ll & z & Zl & Ze & Zr).
        destruct (run_facts g all K _ _ r V I) as (Hr & Ir & _).
        assert (Br : In (of r) before).
        { apply (earlier_is_launched g all K _ _ _ V Ir). destruct Hr as [rr Fr0].
          apply (order_launched g s (sound_order _ _ _ _ S) _ _ (of r) Fr0). left. reflexivity. }
        destruct (proj2 (h_open (of r) Br D) Hr) as (l2 & k2 & n2 & F2 & I2).
        split; [apply (ee_eligible A before s V H l2 k2 _ n2 F2 I2)|]. rewrite Lv. split; [exact Ll|]. split.
        { destruct (h_count _ _ _ _ F2 I2). lia. }
        exists z. split; [exact Zl|]. split; [exact Ze|]. specialize (Ended r I). lia.
    + destruct (kernels_only all K o Io) as (a & need & lasts & W).
      apply (NB l o n rest _ need lasts i room (conj F N) W U). unfold need_of in R. rewrite W in R. exact R.
Qed.
End Steps.
End Undispatched.
