(* With the last block of a kernel, what is known of runs with one dispatched kernel more begins to hold. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage queues progress serial closed busy next entries explored undispatched.

Section Dispatched.
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
Local Notation possible := (possible g all).
Local Notation latest_of_le := (latest_of_le g all).
Local Notation latest_of_more := (latest_of_more g all).
Local Notation head_early := (head_early g all K).
Local Notation ee_eligible := (ee_eligible g all K).
Local Notation prompt := (prompt g all).
Local Notation may_precede := (may_precede g all).
Local Notation prompt_entered := (prompt_entered g all K).
Local Notation not_entered := (not_entered g all).
Local Notation head_by_start := (head_by_start g all explored given_up E).
Local Notation has_entered := (has_entered g all explored given_up E).

(* A block is assigned; with the last one of its kernel the next state of the exploration is reached. *)
Section Assigned.
Variables (A : abstract) (before : list operation) (s : state).
Hypotheses (X : explored A) (V : inv before s) (H : holds A before s).
Variables (l i d n blocks : nat) (o : operation) (rest : list (operation * nat)) (need room : resources) (lasts :
  range).
Hypotheses (Td : turn s = Dispatch) (N : next_kernel s l o (S n) rest) (W : what o = Kernel blocks need lasts) (D :
  within d lasts).
Let t := State (now s) (turn s) (launched s) (queues s) (update l (G3 o n rest) (ee s)) (ce s)
           (running s ++ [Run o (Sm i) (now s + d)]) (update i (minus room need) (free s)).
Hypothesis V' : inv before t.
Let Q : nth_error (ee s) l = Some ((o, S n) :: rest) := proj1 N.
Let r := Run o (Sm i) (now s + d).

Lemma assigned_facts : at_head s o /\ level_of o = l /\ In o all /\ number o < launched s /\ ~ In (number o) (done A)
  /\
  worst_of o = worst lasts /\ blocks_of o = blocks /\ S n <= blocks.
Proof.
  destruct (ee_facts g all _ _ _ _ _ _ V Q (or_introl eq_refl)) as (Ho & Lv & Io & Lo).
  split; [exact Ho|]. split; [exact Lv|]. split; [exact Io|]. split; [exact Lo|]. split.
  - intros Dn. destruct (holds_done H o Io Dn) as (_ & Ne & _). apply Ne. exists l, ((o, S n) :: rest), (S n).
    split; [exact Q|left; reflexivity].
  - unfold worst_of, blocks_of. rewrite W. split; [reflexivity|]. split; [reflexivity|].
    destruct (holds_count H _ _ _ _ Q (or_introl eq_refl)) as [_ C]. unfold blocks_of in C. rewrite W in C. lia.
Qed.
Let Ho := proj1 assigned_facts.
Let Lv := proj1 (proj2 assigned_facts).
Let Io := proj1 (proj2 (proj2 assigned_facts)).
Let Lo := proj1 (proj2 (proj2 (proj2 assigned_facts))).
Let Nd := proj1 (proj2 (proj2 (proj2 (proj2 assigned_facts)))).
Let Wo := proj1 (proj2 (proj2 (proj2 (proj2 (proj2 assigned_facts))))).
Let Bo := proj1 (proj2 (proj2 (proj2 (proj2 (proj2 (proj2 assigned_facts)))))).
Let Le := proj2 (proj2 (proj2 (proj2 (proj2 (proj2 (proj2 assigned_facts)))))).

Lemma late_one k u : late k u [r] = if (number o =? k) && (u <? now s + d) then 1 else 0.
Proof. unfold late. simpl. destruct (number o =? k), (u <? now s + d); reflexivity. Qed.
Lemma on_one k : on_sms k [r] = if number o =? k then 1 else 0.
Proof. unfold on_sms. simpl. destruct (number o =? k); reflexivity. Qed.

Lemma left_of_queue : n = 0 /\ G3 o n rest = rest \/ 0 < n /\ G3 o n rest = (o, n) :: rest.
Proof. clear. destruct n; [left|right]; split; try reflexivity. lia. Qed.

(* What is in the queues afterwards was there before, and the other way round. *)
Lemma ee_before l' k p m : nth_error (ee t) l' = Some k -> In (p, m) k ->
  exists k' m', nth_error (ee s) l' = Some k' /\ In (p, m') k' /\ (p <> o /\ m' = m \/ p = o /\ m' = S m /\ m = n /\
    0 < n).
Proof.
  intros F I. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[Z F']].
  - assert (Rest : In (p, m) rest -> p <> o).
    { intros J ->. assert (Y := holds_once H l _ Q). simpl in Y. inversion Y as [|? ? Out ?]; subst.
      apply Out. apply (in_map fst) in J. exact J. }
    assert (C : In (p, m) rest \/ p = o /\ m = n /\ 0 < n).
    { destruct left_of_queue as [[_ G]|[Pn G]]; rewrite G in I; [left; exact I|].
      destruct I as [I|I]; [right|left; exact I]. injection I as <- <-. tauto. }
    destruct C as [C|(-> & -> & Pn)].
    + exists ((o, S n) :: rest), m. split; [exact Q|]. split; [right; exact C|]. left.
      split; [apply Rest, C|reflexivity].
    + exists ((o, S n) :: rest), (S n). split; [exact Q|]. split; [left; reflexivity|]. right. tauto.
  - exists k, m. split; [exact F'|]. split; [exact I|]. left. split; [|reflexivity]. intros ->.
    destruct (ee_facts g all _ _ _ _ _ _ V F' I) as (_ & L' & _). apply Z. rewrite <- L'. symmetry. exact Lv.
Qed.
Lemma ee_after p : in_ee s p -> p <> o -> in_ee t p.
Proof.
  intros (l' & k & m & F & I) Np. destruct (Nat.eq_dec l l') as [<-|Z].
  - rewrite Q in F. injection F as <-. destruct I as [I|I]; [congruence|].
    exists l, (G3 o n rest), m. split; [apply (update_same _ _ _ _ Q)|].
    destruct left_of_queue as [[_ ->]|[_ ->]]; [exact I|right; exact I].
  - exists l', k, m. split; [|exact I]. simpl. rewrite update_other by exact Z. exact F.
Qed.
Lemma once_after l' k : nth_error (ee t) l' = Some k -> NoDup (map fst k).
Proof.
  intros F. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|apply (holds_once H l' k F')].
  assert (Y := holds_once H l _ Q). simpl in Y.
  destruct left_of_queue as [[_ ->]|[_ ->]]; [inversion Y; assumption|exact Y].
Qed.
Lemma count_after l' k p m : nth_error (ee t) l' = Some k -> In (p, m) k ->
  0 < m /\ on_sms (number p) (running t) + m <= blocks_of p.
Proof.
  intros F I. destruct (ee_before l' k p m F I) as (k' & m' & F' & I' & C).
  destruct (holds_count H l' k' p m' F' I') as [B C'].
  change (running t) with (running s ++ [r]). rewrite on_sms_app, on_one.
  destruct (ee_facts g all _ _ _ _ _ _ V F' I') as (_ & _ & Ip & _).
  destruct C as [[Np ->]|(-> & -> & -> & Pn)].
  - assert (Z : number o =? number p = false); [|rewrite Z; lia].
    apply Nat.eqb_neq. intros Z. apply Np. symmetry. apply (kernels_apart all K o p Io Ip Z).
  - rewrite Nat.eqb_refl. lia.
Qed.
Lemma behind_after l' y k p m : nth_error (ee t) l' = Some (y :: k) -> In (p, m) k ->
  on_sms (number p) (running t) = 0.
Proof.
  intros F I. assert (Np : p <> o).
  { intros ->. assert (Y := once_after l' _ F). destruct (update_cases _ _ _ _ _ F) as [[<- Z]|[Z F']].
    - destruct left_of_queue as [[_ G]|[_ G]]; rewrite G in Z.
      + assert (J : In (o, m) rest) by (rewrite <- Z; right; exact I).
        assert (Y' := holds_once H l _ Q). simpl in Y'. inversion Y' as [|? ? Out ?]; subst.
        apply Out. apply (in_map fst) in J. exact J.
      + injection Z as -> ->. simpl in Y. inversion Y as [|? ? Out ?]; subst. apply Out.
        apply (in_map fst) in I. exact I.
    - destruct (ee_facts g all _ _ _ _ _ _ V F' (or_intror I)) as (_ & L' & _). apply Z. rewrite <- L'. symmetry.
      exact Lv. }
  assert (B : on_sms (number p) (running s) = 0 /\ In p all).
  { destruct (update_cases _ _ _ _ _ F) as [[<- Z]|[_ F']].
    - assert (J : In (p, m) rest) by (destruct left_of_queue as [[_ G]|[_ G]]; rewrite G in Z;
        [rewrite <- Z; right; exact I|injection Z as _ ->; exact I]).
      split; [apply (holds_behind H l _ rest p m Q J)|].
      apply (ee_facts g all _ _ _ _ _ _ V Q (or_intror J)).
    - split; [apply (holds_behind H l' y k p m F' I)|]. apply (ee_facts g all _ _ _ _ _ _ V F' (or_intror I)). }
  destruct B as [B Ip]. change (running t) with (running s ++ [r]). rewrite on_sms_app, on_one, B.
  assert (Z : number o =? number p = false); [|rewrite Z; reflexivity].
  apply Nat.eqb_neq. intros Z. apply Np. symmetry. apply (kernels_apart all K o p Io Ip Z).
Qed.
Lemma queue_after l' k a x b y c : nth_error (ee t) l' = Some k -> map fst k = a ++ x :: b ++ y :: c ->
  may_precede A x y.
Proof.
  intros F Z. destruct (update_cases _ _ _ _ _ F) as [[<- ->]|[_ F']]; [|apply (holds_queue H l' k a x b y c F' Z)].
  destruct left_of_queue as [[_ G]|[_ G]]; rewrite G in Z.
  - apply (holds_queue H l _ (o :: a) x b y c Q). simpl. rewrite Z. reflexivity.
  - apply (holds_queue H l _ a x b y c Q). exact Z.
Qed.

(* The block has its bound. *)
Lemma own_after : exists m, m + S n = blocks /\ now s <= start_of A o m /\ forall u,
  late (number o) u (running t) <= later u (firstn (S m) (ends_of A o)).
Proof.
  destruct (holds_head H l o (S n) rest N) as (May & m & Z & Ls & C). exists m. split; [congruence|].
  split; [exact Ls|]. assert (B := computed_starts (explored_computed E A X) o May).
  assert (Len : m < length (starts A (number o))) by (rewrite (starts_all B); lia).
  intros u. change (running t) with (running s ++ [r]). rewrite late_app, late_one, Nat.eqb_refl.
  rewrite (firstn_one 0) by (unfold ends_of; rewrite map_length; exact Len). rewrite later_app, ends_nth by exact Len.
  specialize (C u). unfold later at 2. simpl. destruct D as [_ Dw].
  destruct (Nat.ltb_spec u (now s + d)), (Nat.ltb_spec u (start_of A o m + worst_of o)); simpl; lia.
Qed.

(* What enters by its launch has, before this block begins. *)
Lemma none_to_enter x : eligible A x -> prompt A x = true -> launched_at x <= now s -> in_ee s x.
Proof.
  intros Ex Pr L. apply (prompt_entered A before s V H x); try assumption.
  - apply (usage_dispatch g s (sound_usage _ _ _ _ (inv_sound _ _ _ _ V)) Td).
  - apply (inv_turn _ _ _ _ V Td x (proj1 Ex) L).
Qed.

(* More blocks are left. *)
Lemma holds_block : 0 < n -> holds A before t.
Proof.
  intros Pn. assert (Left : G3 o n rest = (o, n) :: rest) by (destruct left_of_queue as [[Z _]|[_ Z]]; [lia|exact Z]).
  assert (H' := H). what_holds H'. split; try assumption.
  - intros p I Dp. destruct (h_done p I Dp) as (B & C & F). split; [exact B|]. split; [|exact F].
    intros (l' & k & m & G & J). destruct (ee_before l' k p m G J) as (k' & m' & G' & J' & _). apply C.
    exists l', k', m'. tauto.
  - intros p I Dp. destruct (h_open p I Dp) as (B & C). split; [exact B|]. intros F.
    destruct (Nat.eq_dec (number p) (number o)) as [Z|Z].
    + rewrite (kernels_apart all K p o (proj1 (inv_launched _ _ _ _ V p I)) Io Z).
      exists l, (G3 o n rest), n. split; [apply (update_same _ _ _ _ Q)|]. rewrite Left. left. reflexivity.
    + apply ee_after; [apply C, F|congruence].
  - intros b I Db. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply h_over_by; assumption|].
    destruct (Nd Db).
  - intros p I Dp. destruct (h_over_from p I Dp) as [B|(b & J & Z & B)]; [left; exact B|right].
    exists b. split; [apply in_app_iff; left; exact J|tauto].
  - intros k u Dk L. simpl. rewrite late_app. fold r. rewrite late_one. specialize (h_runs k u Dk L).
    destruct (Nat.eqb_spec (number o) k) as [<-|_]; [destruct (Nd Dk)|]. simpl. lia.
  - intros x Ex L. destruct (Nat.eq_dec (number x) (number o)) as [Z|Z].
    + rewrite (kernels_apart all K x o (proj1 Ex) Io Z). exists l, (G3 o n rest), n.
      split; [apply (update_same _ _ _ _ Q)|]. rewrite Left. left. reflexivity.
    + apply ee_after; [apply h_entered; assumption|congruence].
  - apply queue_after.
  - intros x Ex Pr Nx. destruct (Nat.eq_dec (number x) (number o)) as [Z|Z].
    { exfalso. apply Nx. rewrite (kernels_apart all K x o (proj1 Ex) Io Z). exists l, (G3 o n rest), n.
      split; [apply (update_same _ _ _ _ Q)|]. rewrite Left. left. reflexivity. }
    assert (Ns : ~ in_ee s x) by (intros Y; apply Nx, ee_after; [exact Y|congruence]).
    destruct (h_prompt x Ex Pr Ns) as (B & C & _). split; [exact B|]. split; [exact C|].
    intros Lx. destruct (Ns (none_to_enter x Ex Pr Lx)).
  - intros l' k p m F I. destruct (ee_before l' k p m F I) as (k' & m' & F' & I' & _).
    apply (h_itself l' k' p m' F' I').
  - apply once_after.
  - apply count_after.
  - apply behind_after.
  - intros l1 o1 n1 rest1 N1. assert (N2 : next_kernel t l o n rest).
    { split; [simpl; rewrite (update_same _ _ _ _ Q), Left; reflexivity|].
      intros h L. simpl. rewrite update_other by lia. apply (proj2 N h L). }
    destruct (next_unique _ _ _ _ _ _ _ _ _ N1 N2) as (-> & -> & -> & ->).
    destruct (h_head l o (S n) rest N) as (May & _). split; [exact May|].
    destruct own_after as (m & Z & Ls & C). exists (S m). split; [lia|]. split; [|exact C].
    assert (B := starts_order (computed_starts (explored_computed E A X) o May) m). simpl. lia.
  - intros l1 o1 n1 rest1 b N1 I Db Nb. assert (N2 : next_kernel t l o n rest).
    { split; [simpl; rewrite (update_same _ _ _ _ Q), Left; reflexivity|].
      intros h L. simpl. rewrite update_other by lia. apply (proj2 N h L). }
    destruct (next_unique _ _ _ _ _ _ _ _ _ N1 N2) as (-> & -> & -> & ->).
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [|destruct (Nb eq_refl)].
    apply (h_lower _ _ _ _ b N I Db Nb).
Qed.

(* It was the last one. *)
Lemma now_possible : n = 0 -> possible A o (now s).
Proof.
  intros Z. destruct (head_by_start A before s X V H l o (S n) rest N) as (_ & May & By).
  assert (El := proj1 May). split; [exact May|apply (holds_from H)|apply (head_early A before s V H o Ho Io)|exact
    By| |].
  - destruct (Nat.le_gt_cases (now s) (some_by A)) as [Y|Y]; [exact Y|exfalso].
    destruct (computed_some (explored_computed E A X) (ex_intro _ o El)) as [S1 S2].
    destruct (has_entered A before s X V H (S (list_max (map (fun y => level_of y) all))) 0) as (h & p & m & rs & Lh
      & Np).
    + intros y I. assert (M := proj1 (list_max_le (map (fun y => level_of y) all) _) (le_n _)).
      rewrite Forall_forall in M. specialize (M _ (in_map _ _ _ I)). simpl in M. lia.
    + exists o. split; [exact El|lia].
    + lia.
    + destruct (head_by_start A before s X V H h p m rs Np) as (Lp & Mp & Dp). specialize (S2 p Mp ltac:(lia)). lia.
  - intros x Ex L. assert (Nx : ~ in_ee s x).
    { intros (l' & k & m & F & I). destruct (ee_facts g all _ _ _ _ _ _ V F I) as (_ & L' & _).
      rewrite (proj2 N l') in F by lia. injection F as <-. destruct I. }
    split; [apply (not_entered A before s H x Ex Nx)|]. intros Pr.
    destruct (Nat.lt_ge_cases (now s) (launched_at x)) as [Y|Y]; [exact Y|]. destruct (Nx (none_to_enter x Ex Pr Y)).
Qed.

Lemma holds_last : n = 0 -> given_up A \/ exists B, explored B /\ holds B before t.
Proof.
  intros Zn. destruct (explored_next E A o (now s) X (now_possible Zn)) as [G|(B & XB & F)]; [left; exact G|right].
  exists B. split; [exact XB|].
  assert (Dn := follows_done F).
  assert (Dw := proj2 D). assert (Db := proj1 D).
  assert (Short := kept_short (sound_kept _ _ _ _ (inv_sound _ _ _ _ V'))).
  assert (Apart : forall p, In p all -> number p = number o -> p = o) by (intros p Ip Z;
    apply (kernels_apart all K p o Ip Io Z)).
  assert (Elig : forall l' k p m, nth_error (ee t) l' = Some k -> In (p, m) k -> eligible A p /\ eligible B p /\ p <>
    o).
  { intros l' k p m G I. destruct (ee_before l' k p m G I) as (k' & m' & G' & I' & [[Np _]|(_ & _ & _ & Pn)]); [|lia].
    assert (Ea := ee_eligible A before s V H l' k' p m' G' I'). split; [exact Ea|]. split; [|exact Np].
    split; [apply Ea|]. split.
    - rewrite Dn. intros [Z|Z]; [apply Np, Apart; [apply Ea|exact Z]|apply Ea, Z].
    - intros q Iq Wq. rewrite Dn. right. apply Ea; assumption. }
  assert (Early : forall p, eligible A p -> earliest B p <= earliest A p /\ latest A p <= latest B p).
  { intros p Ep. split; apply latest_of_more; intros q Iq Wq;
      destruct (follows_over F (number q) (proj2 (proj2 Ep) q Iq Wq)); assumption. }
  assert (Prompt : forall p, eligible A p -> prompt B p = true -> prompt A p = true).
  { intros p Ep Pr. apply forallb_forall. intros q Iq. assert (Y := proj1 (forallb_forall _ _) Pr q Iq).
    apply filter_In in Iq. destruct (follows_over F (number q) (proj2 (proj2 Ep) q (proj1 Iq) (proj2 Iq))).
    apply Nat.ltb_lt in Y. apply Nat.ltb_lt. lia. }
  assert (Empty : ~ in_ee t o).
  { intros (l' & k & m & G & I). destruct (Elig l' k o m G I) as (_ & _ & Np). exact (Np eq_refl). }
  assert (Before : forall x, eligible B x -> waits_for x o = false -> eligible A x).
  { intros x Ex Wx. split; [apply Ex|]. split; [intros Y; apply (proj1 (proj2 Ex)), Dn; right; exact Y|].
    intros q Iq Wq. destruct (proj1 (Dn _) (proj2 (proj2 Ex) q Iq Wq)) as [Z|Z]; [|exact Z].
    rewrite (Apart q Iq Z) in Wq. congruence. }
  assert (Entered : forall x, eligible B x -> latest B x < now t -> in_ee t x).
  { intros x Ex L. simpl in L. assert (Nx : x <> o) by (intros ->; apply (proj1 (proj2 Ex)), Dn; left; reflexivity).
    destruct (waits_for x o) eqn:Wx.
    - destruct (proj1 (latest_of_le (over_by B) x _) (le_n _)) as [_ Y]. specialize (Y o Io Wx).
      destruct (follows_over_own F) as [_ Z]. unfold latest in L. lia.
    - assert (Ea := Before x Ex Wx). apply ee_after; [|exact Nx]. apply (holds_entered H x Ea).
      destruct (Early x Ea). lia. }
  assert (Later : forall x, eligible B x -> prompt B x = true -> ~ in_ee t x -> now s < launched_at x).
  { intros x Ex Pr Nx. destruct (Nat.lt_ge_cases (now s) (launched_at x)) as [Y|Y]; [exact Y|exfalso].
    destruct (waits_for x o) eqn:Wx.
    - assert (Z := proj1 (forallb_forall _ _) Pr o (proj2 (filter_In _ _ _) (conj Io Wx))). apply Nat.ltb_lt in Z.
      destruct (follows_over_own F). lia.
    - assert (Ea := Before x Ex Wx). apply Nx, ee_after; [apply (none_to_enter x Ea (Prompt x Ea Pr) Y)|].
      intros ->. apply (proj1 (proj2 Ex)), Dn. left. reflexivity. }
  assert (Past : forall p, In p all -> number p < launched s -> launched_at p <= now s).
  { intros p Ip L. apply (sound_past _ _ _ _ (inv_sound _ _ _ _ V)), (earlier_is_launched g all K _ _ p V Ip L). }
  assert (Sorted : forall l' k a x b y c, nth_error (ee t) l' = Some k -> map fst k = a ++ x :: b ++ y :: c ->
    may_precede B x y).
  { intros l' k a x b y c G Z. assert (Y := queue_after l' k a x b y c G Z).
    assert (Ix : In x (map fst k)) by (rewrite Z; apply in_elt).
    assert (Iy : In y (map fst k)) by (rewrite Z, app_comm_cons, app_assoc; apply in_elt).
    apply in_map_iff in Ix. destruct Ix as ([x' mx] & <- & Ix). apply in_map_iff in Iy.
    destruct Iy as ([y' my] & <- & Iy).
    destruct (Elig _ _ _ _ G Ix) as (Ex & _). destruct (Elig _ _ _ _ G Iy) as (Ey & _). simpl in *.
    destruct Y as [Y1 Y2]. split; [destruct (Early x' Ex), (Early y' Ey); lia|]. intros Pr.
    apply Y2, (Prompt y' Ey Pr). }
  assert (Itself : forall l' k p m, nth_error (ee t) l' = Some k -> In (p, m) k -> earliest B p <= latest B p).
  { intros l' k p m G I. destruct (ee_before l' k p m G I) as (k' & m' & G' & I' & _).
    assert (Y := holds_itself H l' k' p m' G' I'). destruct (Elig l' k p m G I) as (Ep & _).
    destruct (Early p Ep). lia. }
  assert (Later0 : forall u, now s + worst_of o <= u -> late (number o) u (running t) = 0).
  { intros u L. apply late_zero. intros b I Zb. destruct (run_facts g all K _ _ b V' I) as (_ & Ib & _).
    assert (Y := Short b I). rewrite (Apart (of b) Ib Zb) in Y. simpl in Y. lia. }
  split.
  - intros p Ip Dp. apply Dn in Dp. destruct Dp as [Dp|Dp].
    + rewrite (Apart p Ip Dp). split; [exact Lo|]. split; [exact Empty|]. intros _. exact Ho.
    + destruct (holds_done H p Ip Dp) as (A1 & A2 & A3). split; [exact A1|]. split; [|exact A3].
      intros (l' & k & m & G & I). destruct (Elig _ _ _ _ G I) as (Ep & _). apply (proj1 (proj2 Ep)), Dp.
  - intros p Ip Dp. assert (Na : ~ In (number p) (done A)) by (intros Z; apply Dp, Dn; right; exact Z).
    destruct (holds_open H p Ip Na) as (A1 & A2). split; [exact A1|]. intros Hp. apply ee_after; [apply A2, Hp|].
    intros ->. apply Dp, Dn. left. reflexivity.
  - simpl. apply (follows_from F).
  - intros b I Dk. apply Dn in Dk. destruct Dk as [Dk|Dk].
    + destruct (run_facts g all K _ _ b V' I) as (_ & Ib & _). assert (Y := Short b I). rewrite (Apart _ Ib Dk) in *.
      destruct (follows_over_own F). simpl in Y. lia.
    + destruct (follows_over F _ Dk) as [_ Y]. apply in_app_iff in I.
      destruct I as [I|[<-|[]]]; [|destruct (Nd Dk)]. assert (Z := holds_over_by H b I Dk). lia.
  - intros p Ip Dp. apply Dn in Dp. destruct Dp as [Dp|Dp].
    + right. exists r. split; [apply in_app_iff; right; left; reflexivity|]. rewrite (Apart p Ip Dp).
      split; [reflexivity|]. destruct (follows_over_own F) as [Y _]. simpl. unfold best_of in Y. rewrite W in Y. lia.
    + destruct (follows_over F _ Dp) as [Y _].
      destruct (holds_over_from H p Ip Dp) as [Z|(b & J & Z & L)]; [left; simpl; lia|right].
      exists b. split; [apply in_app_iff; left; exact J|]. split; [exact Z|lia].
  - intros k u Dk L. apply Dn in Dk. destruct (Nat.eq_dec k (number o)) as [->|Nk].
    + destruct (Nat.le_gt_cases (now s + worst_of o) u) as [Y|Y]; [rewrite (Later0 u Y); lia|].
      destruct own_after as (m & _ & _ & C). eapply Nat.le_trans; [apply C|].
      eapply Nat.le_trans; [apply later_firstn|].
      apply (follows_own F). lia.
    + destruct Dk as [Dk|Dk]; [congruence|]. simpl. rewrite late_app. fold r. rewrite late_one.
      rewrite (proj2 (Nat.eqb_neq (number o) k)) by congruence. simpl. destruct (follows_by F) as [_ Y].
      assert (Z := holds_runs H k u Dk ltac:(lia)). assert (Z' := follows_runs F k u Dk L). lia.
  - exact Entered.
  - exact Sorted.
  - intros x Ex Pr Nx. assert (Lx := Later x Ex Pr Nx). split; [|split].
    + intros p Ip Dp. assert (Lp : number p < launched s); [|specialize (Past p Ip Lp); lia].
      apply Dn in Dp. destruct Dp as [Dp|Dp]; [congruence|apply (holds_done H p Ip Dp)].
    + intros Bx. assert (Y := sound_past _ _ _ _ (inv_sound _ _ _ _ V) x Bx). lia.
    + simpl. lia.
  - exact Itself.
  - apply once_after.
  - apply count_after.
  - apply behind_after.
  - intros l1 o1 n1 rest1 N1. destruct N1 as [F1 N1]. destruct (Elig _ _ _ _ F1 (or_introl eq_refl)) as (E1 & E1' &
    Np).
    destruct (count_after _ _ _ _ F1 (or_introl eq_refl)) as [Pn Cn].
    destruct (ee_facts g all _ _ _ _ _ _ V' F1 (or_introl eq_refl)) as (Ho1 & Lv1 & Io1 & _).
    destruct (ee_before _ _ _ _ F1 (or_introl eq_refl)) as (k' & m' & F1' & I1' & _).
    assert (Now1 : earliest B o1 <= now s).
    { destruct (Early o1 E1) as [Y _]. eapply Nat.le_trans; [exact Y|]. apply (head_early A before s V H o1 Ho1 Io1).
      }
    assert (Others : forall x, eligible B x -> level_of x = level_of o1 -> x <> o1 -> may_precede B o1 x).
    { intros x Ex Lx Nx. destruct (in_ee_or_not g all K _ _ x V' (proj1 Ex)) as [(lx & kx & mx & Fx & Ix)|Y].
      - destruct (ee_facts g all _ _ _ _ _ _ V' Fx Ix) as (_ & Lx' & _).
        assert (Zl : lx = l1) by lia. rewrite Zl, F1 in Fx. injection Fx as <-. destruct Ix as [Ix|Ix]; [congruence|].
        apply in_split in Ix. destruct Ix as (b & c & Ix). apply (Sorted l1 _ [] o1 (map fst b) x (map fst c) F1).
        rewrite Ix. simpl. rewrite map_app. reflexivity.
      - destruct (ee_facts g all _ _ _ _ _ _ V F1' I1') as (_ & _ & _ & L1). split.
        { destruct (Nat.le_gt_cases (now t) (latest B x)) as [Z|Z]; [simpl in Z; lia|destruct (Y (Entered x Ex Z))]. }
        intros Pr. assert (Lt := Later x Ex Pr Y). split.
        { destruct (Nat.lt_ge_cases (number o1) (number x)) as [Z|Z]; [exact Z|exfalso].
          specialize (Past x (proj1 Ex) ltac:(lia)). lia. }
        intros p Ip Wp. unfold entries.waits_for in Wp. apply andb_true_iff in Wp. destruct Wp as [Wp _].
        apply Nat.ltb_lt in Wp. specialize (Past p Ip ltac:(lia)). lia. }
    assert (By := proj1 (follows_by F)).
    assert (May : may_be_next B o1).
    { split; [exact E1'|]. split; [|exact Others].
      destruct (computed_entry (explored_computed E B XB) (level_of o1)) as [(x & Ex & Lx & Y)|(_ & Y & _)].
      - exists o1. split; [exact E1'|lia].
      - destruct (Nat.eq_dec (number x) (number o1)) as [Z|Z].
        + assert (I := Itself _ _ _ _ F1 (or_introl eq_refl)).
          rewrite (kernels_apart all K x o1 (proj1 Ex) Io1 Z) in *. lia.
        + destruct (Others x Ex Lx ltac:(congruence)). lia.
      - lia. }
    split; [exact May|]. assert (Bs := computed_starts (explored_computed E B XB) o1 May).
    exists (blocks_of o1 - n1). split; [lia|].
    assert (After : forall m, m < blocks_of o1 -> by_then B <= start_of B o1 m) by (intros m L;
      apply (starts_after Bs m L)).
    split; [specialize (After (blocks_of o1 - n1) ltac:(lia)); simpl; lia|]. intros u.
    destruct (Nat.le_gt_cases (now s + worst_of o1) u) as [Y|Y].
    + rewrite late_zero; [lia|]. intros b I Zb. destruct (run_facts g all K _ _ b V' I) as (_ & Ib & _).
      assert (Sb := Short b I). rewrite (kernels_apart all K (of b) o1 Ib Io1 Zb) in Sb. simpl in Sb. lia.
    + rewrite later_all.
      * rewrite firstn_length. unfold ends_of. rewrite map_length, (starts_all Bs).
        assert (Z := late_on_sms (number o1) u (running t)). lia.
      * intros e Ie. apply In_nth with (d := 0) in Ie. destruct Ie as (m & Lm & <-).
        rewrite firstn_length in Lm. unfold ends_of in Lm. rewrite map_length, (starts_all Bs) in Lm.
        rewrite <- (firstn_skipn (blocks_of o1 - n1) (ends_of B o1)) in *.
        assert (Z : nth m (firstn (blocks_of o1 - n1) (ends_of B o1)) 0 = nth m (ends_of B o1) 0).
        { rewrite <- (firstn_skipn (blocks_of o1 - n1) (ends_of B o1)) at 2. rewrite app_nth1; [reflexivity|].
          rewrite firstn_length. unfold ends_of. rewrite map_length, (starts_all Bs). lia. }
        rewrite firstn_skipn. rewrite Z, ends_nth by (rewrite (starts_all Bs); lia). specialize (After m ltac:(lia)).
        lia.
  - intros l1 o1 n1 rest1 b N1 I Dk Nb. destruct N1 as [F1 N1].
    destruct (run_facts g all K _ _ b V' I) as (Hb & Ib & Bb).
    assert (Na : ~ In (number (of b)) (done A)) by (intros Z; apply Dk, Dn; right; exact Z).
    assert (Nbo : of b <> o) by (intros Z; apply Dk, Dn; left; congruence).
    apply in_app_iff in I. destruct I as [I|[<-|[]]]; [|destruct (Nbo eq_refl)].
    destruct (holds_lower H _ _ _ _ b N I Na Nbo) as (Ll & z & Zl & Ze & Zr).
    assert (Bb' : In (of b) before).
    { apply (earlier_is_launched g all K _ _ _ V Ib). destruct Hb as [rb Fb].
      apply (order_launched g s (sound_order _ _ _ _ (inv_sound _ _ _ _ V)) _ _ (of b) Fb). left. reflexivity. }
    destruct (ee_after _ (proj2 (holds_open H (of b) Bb' Na) Hb) Nbo) as (l2 & k2 & m2 & F2 & I2).
    destruct (ee_facts g all _ _ _ _ _ _ V' F2 I2) as (_ & L2 & _).
    destruct (Elig _ _ _ _ F2 I2) as (Eb & _).
    assert (Lt : l1 < l2).
    { destruct (Nat.lt_trichotomy l1 l2) as [Y|[Y|Y]]; [exact Y|exfalso|exfalso].
      - rewrite <- Y, F1 in F2. injection F2 as <-. destruct I2 as [I2|I2]; [congruence|].
        assert (Zb := behind_after _ _ _ _ _ F1 I2). simpl in Zb. rewrite on_sms_app in Zb.
        apply in_split in I. destruct I as (x & y & I). rewrite I, on_sms_app in Zb. unfold on_sms in Zb at 2.
        simpl in Zb. rewrite Bb, Nat.eqb_refl in Zb. simpl in Zb. lia.
      - rewrite (N1 l2 Y) in F2. injection F2 as <-. destruct I2. }
    split; [lia|]. destruct (follows_begun F (level_of (of b)) z ltac:(lia) Zl) as (z' & Zb &
      Lz).
    destruct (Early _ Eb) as [Y _]. unfold last_begun. rewrite Zb.
    destruct (_ || _); eexists; (split; [reflexivity|lia]).
Qed.
End Assigned.
End Dispatched.
