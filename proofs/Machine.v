(** * The same network in the integers of the machine

    Coq's virtual machine has integers modulo 2 ^ 63. The sums of a network whose weights
    are small never reach half of that, so its scores are those of [Network.scores]. *)

From Coq Require Import Bool Lia Uint63.
From Proofs Require Import Walk.
From Proofs Require Export Network.
Local Open Scope uint63_scope.

Record machine_output :=
  { machine_weights : list int; machine_bias : int; machine_shift : int }.

Fixpoint machine_sum (weights inputs : list int) (sum : int) : int :=
  match weights, inputs with
  | weight :: weights, input :: inputs =>
    machine_sum weights inputs (sum + weight * input)
  | _, _ => sum
  end.

Definition half : int := 0x4000000000000000.

Definition machine_rounded (number shift : int) : int :=
  let below := number >> shift in
  let twice := 2 * (number - (below << shift)) in
  let unit := 1 << shift in
  if twice <? unit then below
  else if unit <? twice then below + 1
  else if is_even below then below else below + 1.

Definition machine_activation (inputs : list int) (o : machine_output) : int :=
  let sum := machine_sum o.(machine_weights) inputs o.(machine_bias) in
  if half <=? sum then 0
  else let number := machine_rounded sum o.(machine_shift) in
       if number <? 127 then number else 127.

Definition signed (number : int) : Z :=
  if half <=? number then (to_Z number - wB)%Z else to_Z number.

Definition machine_layer (layer : list output) : list machine_output :=
  map (fun o => {| machine_weights := map of_Z o.(weights);
                   machine_bias := of_Z o.(bias);
                   machine_shift := of_Z o.(shift) |}) layer.

Definition machine_scores (net : network) : list Z -> list Z :=
  let layers := map machine_layer net.(hidden) in
  let last_layer := machine_layer net.(last) in
  fun inputs =>
    let activations :=
      fold_left (fun inputs layer => map (machine_activation inputs) layer)
                layers (map of_Z inputs) in
    map (fun o => signed (machine_sum o.(machine_weights) activations o.(machine_bias)))
        last_layer.

(** Sums stay below 2 ^ 24 where no input is beyond 127. *)
Local Open Scope Z_scope.

Definition largest_sum (o : output) : Z :=
  fold_left (fun sum weight => sum + 127 * Z.abs weight) o.(weights) (Z.abs o.(bias)).

Definition is_small (o : output) : bool :=
  (largest_sum o <? 2 ^ 24) && (0 <=? o.(shift)) && (o.(shift) <=? 24).

Definition all_small (net : network) : bool :=
  forallb (forallb is_small) net.(hidden) && forallb is_small net.(last).

(** ** Equal scores *)

Lemma of_Z_add a b : (of_Z a + of_Z b)%uint63 = of_Z (a + b).
Proof. apply to_Z_inj. now rewrite add_spec, !of_Z_spec, <- Zplus_mod. Qed.

Lemma of_Z_mul a b : (of_Z a * of_Z b)%uint63 = of_Z (a * b).
Proof. apply to_Z_inj. now rewrite mul_spec, !of_Z_spec, <- Zmult_mod. Qed.

Lemma machine_sum_of_Z weights : forall inputs sum,
  machine_sum (map of_Z weights) (map of_Z inputs) (of_Z sum)
  = of_Z (fold_left (fun sum '(weight, input) => sum + weight * input)
                    (combine weights inputs) sum).
Proof.
  induction weights as [|weight weights IH]; intros [|input inputs] sum; cbn; try easy.
  now rewrite of_Z_mul, of_Z_add.
Qed.

Definition in_range (input : Z) : Prop := -127 <= input <= 127.

Lemma largest_grows weights : forall largest,
  largest <= fold_left (fun sum weight => sum + 127 * Z.abs weight) weights largest.
Proof.
  induction weights as [|weight weights IH]; intros largest; cbn [fold_left].
  - lia.
  - specialize (IH (largest + 127 * Z.abs weight)). lia.
Qed.

Lemma sum_bound weights : forall inputs sum largest,
  Forall in_range inputs -> Z.abs sum <= largest ->
  Z.abs (fold_left (fun sum '(weight, input) => sum + weight * input)
                   (combine weights inputs) sum)
  <= fold_left (fun sum weight => sum + 127 * Z.abs weight) weights largest.
Proof.
  induction weights as [|weight weights IH]; intros inputs sum largest range below.
  - easy.
  - destruct inputs as [|input inputs]; cbn [combine fold_left].
    + pose proof (largest_grows weights (largest + 127 * Z.abs weight)). lia.
    + inversion range as [|? ? one others]. subst. apply IH; [easy|].
      assert (Z.abs (weight * input) <= 127 * Z.abs weight)
        by (unfold in_range in one; rewrite Z.abs_mul; nia).
      lia.
Qed.

Lemma small_sum o inputs :
  is_small o = true -> Forall in_range inputs ->
  Z.abs (weighted_sum inputs o) < 2 ^ 24 /\ 0 <= o.(shift) <= 24.
Proof.
  unfold is_small. intros small range.
  apply andb_prop in small as [small most]. apply andb_prop in small as [small least].
  apply Z.ltb_lt in small. apply Z.leb_le in most, least. split; [|lia].
  eapply Z.le_lt_trans; [|exact small]. now apply sum_bound.
Qed.

Lemma half_value : to_Z half = 2 ^ 62.
Proof. reflexivity. Qed.

Lemma of_Z_small n : 0 <= n < 2 ^ 62 -> to_Z (of_Z n) = n.
Proof. intros ?. rewrite of_Z_spec. apply Z.mod_small. unfold wB. cbn. lia. Qed.

Lemma of_Z_sign n :
  Z.abs n < 2 ^ 62 -> (half <=? of_Z n)%uint63 = (n <? 0) /\ signed (of_Z n) = n.
Proof.
  intros small. unfold signed.
  assert (value : to_Z (of_Z n) = if n <? 0 then n + wB else n).
  { rewrite of_Z_spec. destruct (Z.ltb_spec n 0).
    - rewrite <- (Z.mod_add n 1) by easy. rewrite Z.mul_1_l.
      apply Z.mod_small. unfold wB in *. cbn in *. lia.
    - apply Z.mod_small. unfold wB in *. cbn in *. lia. }
  assert (sign : (half <=? of_Z n)%uint63 = (n <? 0)).
  { apply eq_true_iff_eq. rewrite leb_spec, half_value, value, Z.ltb_lt.
    unfold wB. cbn in *. destruct (Z.ltb_spec n 0); lia. }
  split; [exact sign|]. rewrite sign, value. destruct (n <? 0); lia.
Qed.

Lemma shift_right n shift :
  0 <= n < 2 ^ 24 -> 0 <= shift <= 24 ->
  to_Z (of_Z n >> of_Z shift)%uint63 = n / 2 ^ shift.
Proof. intros ? ?. now rewrite lsr_spec, !of_Z_small by (cbn; lia). Qed.

Ltac bounds :=
  change wB with 9223372036854775808 in *; change (2 ^ 62) with 4611686018427387904 in *;
  change (2 ^ 24) with 16777216 in *; lia.

Lemma power_bounds shift : 0 <= shift <= 24 -> 1 <= 2 ^ shift <= 2 ^ 24.
Proof.
  intros ?. split.
  - change 1 with (2 ^ 0). apply Z.pow_le_mono_r; lia.
  - apply Z.pow_le_mono_r; lia.
Qed.

Lemma machine_rounded_exact n shift :
  0 <= n < 2 ^ 24 -> 0 <= shift <= 24 ->
  to_Z (machine_rounded (of_Z n) (of_Z shift)) = rounded n shift.
Proof.
  intros range shifts. pose proof (power_bounds shift shifts) as unit_range.
  pose proof (Z.mul_div_le n (2 ^ shift) ltac:(lia)) as least.
  pose proof (Z.div_pos n (2 ^ shift) ltac:(lia) ltac:(lia)) as positive.
  assert (below : to_Z (of_Z n >> of_Z shift)%uint63 = n / 2 ^ shift)
    by (rewrite lsr_spec, !of_Z_small by (bounds); reflexivity).
  assert (unit : to_Z (1 << of_Z shift)%uint63 = 2 ^ shift).
  { rewrite lsl_spec, of_Z_small by (bounds). change (to_Z 1) with 1. rewrite Z.mul_1_l.
    apply Z.mod_small. bounds. }
  unfold machine_rounded, rounded. set (q := n / 2 ^ shift) in *.
  set (machine_q := (of_Z n >> of_Z shift)%uint63) in *.
  assert (q <= n) by nia.
  assert (twice : to_Z (2 * (of_Z n - (machine_q << of_Z shift)))%uint63
                  = 2 * (n - q * 2 ^ shift)).
  { rewrite mul_spec, sub_spec, lsl_spec, below, !of_Z_small by (bounds).
    change (to_Z 2) with 2.
    rewrite (Z.mod_small (q * 2 ^ shift)) by (bounds).
    rewrite (Z.mod_small (n - q * 2 ^ shift)) by (bounds).
    apply Z.mod_small. bounds. }
  assert (above : to_Z (machine_q + 1)%uint63 = q + 1).
  { rewrite add_spec, below. apply Z.mod_small. bounds. }
  pose proof (is_even_spec machine_q) as even. rewrite below in even.
  assert (is_even machine_q = Z.even q) as ->.
  { rewrite Zeven_mod. destruct (is_even machine_q); rewrite even; reflexivity. }
  destruct (Z.compare_spec (2 * (n - q * 2 ^ shift)) (2 ^ shift)) as [same|less|more].
  - assert ((2 * (of_Z n - (machine_q << of_Z shift)) <? 1 << of_Z shift)%uint63 = false)
      as -> by (apply not_true_is_false; rewrite ltb_spec, twice, unit; lia).
    assert ((1 << of_Z shift <? 2 * (of_Z n - (machine_q << of_Z shift)))%uint63 = false)
      as -> by (apply not_true_is_false; rewrite ltb_spec, twice, unit; lia).
    now destruct (Z.even q).
  - assert ((2 * (of_Z n - (machine_q << of_Z shift)) <? 1 << of_Z shift)%uint63 = true)
      as -> by (rewrite ltb_spec, twice, unit; lia).
    exact below.
  - assert ((2 * (of_Z n - (machine_q << of_Z shift)) <? 1 << of_Z shift)%uint63 = false)
      as -> by (apply not_true_is_false; rewrite ltb_spec, twice, unit; lia).
    assert ((1 << of_Z shift <? 2 * (of_Z n - (machine_q << of_Z shift)))%uint63 = true)
      as -> by (rewrite ltb_spec, twice, unit; lia).
    exact above.
Qed.

Lemma rounded_positive n shift : 0 <= n -> 0 <= shift -> 0 <= rounded n shift.
Proof.
  intros ? ?. unfold rounded.
  pose proof (Z.div_pos n (2 ^ shift) ltac:(lia) (Z.pow_pos_nonneg 2 shift eq_refl ltac:(lia))).
  destruct (_ ?= _); try destruct (Z.even _); lia.
Qed.

Lemma machine_activation_exact o inputs :
  is_small o = true -> Forall in_range inputs ->
  machine_activation (map of_Z inputs)
    {| machine_weights := map of_Z o.(weights); machine_bias := of_Z o.(bias);
       machine_shift := of_Z o.(shift) |}
  = of_Z (activation inputs o) /\ in_range (activation inputs o).
Proof.
  intros small range. destruct (small_sum o inputs small range) as [bound shifts].
  unfold machine_activation, activation. cbn [machine_weights machine_bias machine_shift].
  rewrite machine_sum_of_Z. fold (weighted_sum inputs o).
  set (sum := weighted_sum inputs o) in *.
  destruct (of_Z_sign sum) as [-> _]; [bounds|].
  destruct (Z.ltb_spec sum 0); [now split|].
  pose proof (machine_rounded_exact sum o.(shift) ltac:(lia) shifts) as exact.
  pose proof (rounded_positive sum o.(shift) ltac:(lia) ltac:(lia)).
  split; [|unfold in_range; lia].
  apply to_Z_inj. rewrite of_Z_small by (bounds).
  destruct (ltb _ 127) eqn:compared.
  - apply ltb_spec in compared. rewrite exact in *. change (to_Z 127) with 127 in *. lia.
  - assert (~ rounded sum o.(shift) < 127).
    { intros less. rewrite <- exact in less. change 127 with (to_Z 127) in less.
      apply ltb_spec in less. congruence. }
    change (to_Z 127) with 127. lia.
Qed.

Lemma machine_layers_exact layers : forall inputs,
  forallb (forallb is_small) layers = true -> Forall in_range inputs ->
  let activations :=
    fold_left (fun inputs layer => map (activation inputs) layer) layers inputs in
  fold_left (fun inputs layer => map (machine_activation inputs) layer)
            (map machine_layer layers) (map of_Z inputs)
  = map of_Z activations /\ Forall in_range activations.
Proof.
  induction layers as [|layer layers IH]; intros inputs small range; [now split|].
  cbn [forallb] in small. apply andb_prop in small as [here later]. cbn [map fold_left].
  rewrite forallb_forall in here.
  replace (map (machine_activation (map of_Z inputs)) (machine_layer layer))
    with (map of_Z (map (activation inputs) layer)).
  - apply IH; [exact later|]. rewrite Forall_map, Forall_forall. intros o among.
    now apply machine_activation_exact; [apply here|].
  - unfold machine_layer. rewrite !map_map. apply map_ext_in. intros o among. symmetry.
    now apply machine_activation_exact; [apply here|].
Qed.

Theorem machine_scores_exact net inputs :
  all_small net = true -> Forall in_range inputs ->
  machine_scores net inputs = scores net inputs.
Proof.
  unfold all_small. intros small range. apply andb_prop in small as [layers final].
  unfold machine_scores, scores.
  destruct (machine_layers_exact _ inputs layers range) as [-> ranges].
  rewrite forallb_forall in final.
  unfold machine_layer. rewrite map_map. apply map_ext_in. intros o among.
  cbn [machine_weights machine_bias]. rewrite machine_sum_of_Z.
  apply of_Z_sign. destruct (small_sum o _ (final o among) ranges) as [bound _].
  apply (Z.lt_trans _ _ _ bound). reflexivity.
Qed.

(** ** Equal moves *)

Lemma inputs_in_range net mover b : Forall in_range (inputs_of net mover b).
Proof.
  apply Forall_flat_map, Forall_forall. intros c _. unfold in_range.
  destruct (is_stone mover c), (is_stone (other mover) c), net.(two_planes);
    repeat constructor; lia.
Qed.

Definition machine_move (s : shape) (corrections : tree) (net : network) : board -> nat :=
  move_by (machine_scores net) s corrections net.

Lemma machine_move_exact s corrections net b :
  all_small net = true -> machine_move s corrections net b = agent_move s corrections net b.
Proof.
  intros small. unfold machine_move, agent_move, move_by, preferred.
  now rewrite machine_scores_exact by (exact small || apply inputs_in_range).
Qed.

Theorem machine_never_loses s agent corrections net number :
  all_small net = true ->
  own_boards s agent (machine_move s corrections net) = Some number ->
  never_loses (stones_in_a_row s) agent (agent_move s corrections net).
Proof.
  intros small found.
  apply (same_never_loses _ _ (machine_move s corrections net)).
  - intros b. now apply machine_move_exact.
  - exact (own_boards_never_loses _ _ _ _ found).
Qed.

Ltac by_walk number :=
  apply (machine_never_loses _ _ _ _ number);
  [vm_compute; reflexivity | vm_cast_no_check (@eq_refl (option N) (Some number))].
