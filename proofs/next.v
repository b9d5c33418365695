(* The kernel whose block is the next, and which of its blocks end late. *)
From Coq Require Import List Arith Bool Lia.
Import ListNotations.
From gpusched Require Import model lists usage.

(* The head of the highest EE queue that is not empty, once something has entered a queue, or left it. *)
Lemma next_entered s t l before x l1 o1 n1 rest1 :
  nth_error (ee s) l = Some before -> ee t = update l (before ++ [x]) (ee s) -> next_kernel t l1 o1 n1 rest1 ->
  (exists rest, next_kernel s l1 o1 n1 rest) \/
  (l1 = l /\ (o1, n1) = x /\ forall h, h <= l -> nth_error (ee s) h = Some []).
Proof.
  intros B T [E H]. rewrite T in E, H.
  assert (H' : forall h, h < l1 -> nth_error (ee s) h = Some []).
  { intros h L. specialize (H h L). destruct (update_cases _ _ _ _ _ H) as [[_ F]|[_ F]]; [|exact F].
    destruct before; discriminate F. }
  destruct (update_cases _ _ _ _ _ E) as [[<- F]|[_ F]]; [|left; exists rest1; split; assumption].
  destruct before as [|y before].
  - right. injection F as F _. split; [reflexivity|]. split; [congruence|]. intros h L.
    destruct (Nat.eq_dec h l) as [->|N]; [exact B|apply H'; lia].
  - left. simpl in F. injection F as F _. exists before. split; [rewrite F; exact B|exact H'].
Qed.
Lemma next_stays s t l before x l1 o1 n1 rest1 :
  nth_error (ee s) l = Some before -> ee t = update l (before ++ [x]) (ee s) -> l1 <= l ->
  next_kernel s l1 o1 n1 rest1 -> exists rest, next_kernel t l1 o1 n1 rest.
Proof.
  intros B T L [E H]. destruct (Nat.eq_dec l1 l) as [->|N].
  - rewrite B in E. injection E as ->. exists (rest1 ++ [x]). split; rewrite T.
    + apply (update_same _ _ _ _ B).
    + intros h M. rewrite update_other by lia. apply H, M.
  - exists rest1. split; rewrite T.
    + rewrite update_other by lia. exact E.
    + intros h M. rewrite update_other by lia. apply H, M.
Qed.
Lemma next_unique s l o n rest l' o' n' rest' :
  next_kernel s l o n rest -> next_kernel s l' o' n' rest' -> l = l' /\ o = o' /\ n = n' /\ rest = rest'.
Proof.
  intros [E H] [E' H']. destruct (Nat.lt_trichotomy l l') as [L|[->|L]].
  - rewrite (H' l L) in E. discriminate E.
  - rewrite E in E'. injection E' as -> -> ->. tauto.
  - rewrite (H l' L) in E'. discriminate E'.
Qed.

(* How many blocks of an operation end after [X]. *)
Definition late (m X : nat) (l : list run) : nat :=
  length (filter (fun r => is_block r && (number (of r) =? m) && (X <? ends r)) l).
Lemma late_app m X l k : late m X (l ++ k) = late m X l + late m X k.
Proof. unfold late. rewrite filter_app, app_length. reflexivity. Qed.
Lemma late_less m X Y l : X <= Y -> late m Y l <= late m X l.
Proof.
  intros L. unfold late. induction l as [|r l IH]; simpl; [lia|].
  destruct (is_block r && (number (of r) =? m)); simpl; [|exact IH].
  destruct (Nat.ltb_spec Y (ends r)), (Nat.ltb_spec X (ends r)); simpl; lia.
Qed.
Lemma late_none m X l : (forall r, In r l -> is_block r = true -> ends r <= X) -> late m X l = 0.
Proof.
  intros H. unfold late. induction l as [|r l IH]; simpl; [reflexivity|].
  specialize (IH (fun x I => H x (or_intror I))).
  destruct (is_block r) eqn:B; simpl; [|exact IH]. specialize (H r (or_introl eq_refl) B).
  destruct (Nat.ltb_spec X (ends r)); [lia|]. rewrite andb_false_r. exact IH.
Qed.
