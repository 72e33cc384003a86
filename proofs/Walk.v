(** * A walk over all games, and what it shows

    [walk] plays the agent's move and every reply, level by level, until all games have
    ended. That it says so is enough: no list of positions is trusted. *)

From Coq Require Import Arith Bool List NArith.
From Proofs Require Import Rules.
Import ListNotations.

Section Walk.
  Context {position : Type} (rules : game position).
  Variables (agent : player) (strategy : position -> nat) (must_win : bool).
  (** Leaves out positions that are listed twice. *)
  Variable merge : list position -> list position.
  Hypothesis merge_keeps : forall p l, In p l -> In p (merge l).

  Definition wins (q : player) (p : position) : bool :=
    match rules.(winner) p with Some w => is_player w q | None => false end.

  (** The positions after one that comes up; [None] if the claim fails there. *)
  Definition next (p : position) : option (list position) :=
    if wins (other agent) p then None
    else match rules.(moves) p with
         | [] => if (must_win && negb (wins agent p))%bool then None else Some []
         | legal =>
           if is_player (rules.(mover) p) agent then
             let m := strategy p in
             if existsb (Nat.eqb m) legal then Some [rules.(play) p m] else None
           else Some (map (rules.(play) p) legal)
         end.

  Definition is_own (p : position) : bool :=
    match rules.(moves) p with [] => false | _ => is_player (rules.(mover) p) agent end.

  Fixpoint next_of_all (level : list position) : option (list position) :=
    match level with
    | [] => Some []
    | p :: rest =>
      match next p, next_of_all rest with
      | Some after, Some others => Some (after ++ others)
      | _, _ => None
      end
    end.

  (** The number of the agent's own positions, if all games end within [num_moves] as
      claimed. *)
  Fixpoint walk (num_moves : nat) (level : list position) : option N :=
    match level, num_moves with
    | [], _ => Some 0%N
    | _, 0 => None
    | _, S n =>
      match next_of_all level with
      | None => None
      | Some after =>
        match walk n (merge after) with
        | Some number => Some (N.of_nat (length (filter is_own level)) + number)%N
        | None => None
        end
      end
    end.

  (** ** It is sound *)

  (** What is claimed of one position that comes up. *)
  Definition as_claimed (p : position) : Prop :=
    (rules.(winner) p <> Some (other agent)
     /\ (rules.(mover) p = agent -> rules.(moves) p <> [] ->
         In (strategy p) (rules.(moves) p)))
    /\ (must_win = true -> rules.(moves) p = [] -> rules.(winner) p = Some agent).

  (** [q] comes up after [p]. *)
  Inductive after (p : position) : position -> Prop :=
  | after_none : after p p
  | after_move : forall q m,
      after p q -> In m (rules.(moves) q) -> (rules.(mover) q = agent -> m = strategy q) ->
      after p (rules.(play) q m).

  Lemma is_player_true p q : is_player p q = true <-> p = q.
  Proof. destruct p, q; simpl; split; congruence. Qed.

  Lemma wins_true q p : wins q p = true <-> rules.(winner) p = Some q.
  Proof.
    unfold wins. destruct (rules.(winner) p) as [w|].
    - rewrite is_player_true. split; congruence.
    - split; discriminate.
  Qed.

  Lemma is_legal_true m legal : existsb (Nat.eqb m) legal = true -> In m legal.
  Proof.
    intros found. apply existsb_exists in found. destruct found as (n & here & same).
    apply Nat.eqb_eq in same. now subst.
  Qed.

  Lemma next_claimed p l : next p = Some l -> as_claimed p.
  Proof.
    unfold next, as_claimed. destruct (wins (other agent) p) eqn:lost; [discriminate|].
    intros found. split; [split|].
    - intros no. apply wins_true in no. congruence.
    - intros own some. destruct (rules.(moves) p) as [|m legal]; [congruence|].
      rewrite (proj2 (is_player_true _ _) own) in found.
      destruct (existsb _ _) eqn:legal_move; [|discriminate].
      now apply is_legal_true.
    - intros must ended. rewrite ended, must in found. apply wins_true.
      now destruct (wins agent p).
  Qed.

  Lemma next_complete p l m :
    next p = Some l -> In m (rules.(moves) p) ->
    (rules.(mover) p = agent -> m = strategy p) -> In (rules.(play) p m) l.
  Proof.
    unfold next. destruct (wins (other agent) p); [discriminate|].
    destruct (rules.(moves) p) as [|first legal]; [intros _ []|]. intros found here own.
    destruct (is_player (rules.(mover) p) agent) eqn:mine.
    - apply is_player_true in mine. rewrite (own mine).
      destruct (existsb _ _); [|discriminate]. injection found as <-. now left.
    - injection found as <-. exact (in_map (rules.(play) p) (first :: legal) m here).
  Qed.

  Lemma next_of_all_each level l p :
    next_of_all level = Some l -> In p level ->
    exists each, next p = Some each /\ incl each l.
  Proof.
    revert l. induction level as [|first rest IH]; simpl; [easy|]. intros l found here.
    destruct (next first) as [each|] eqn:one; [|discriminate].
    destruct (next_of_all rest) as [others|]; [|discriminate]. injection found as <-.
    destruct here as [<-|here].
    - exists each. split; [exact one | apply incl_appl, incl_refl].
    - destruct (IH others eq_refl here) as (e & ? & ?).
      exists e. split; [easy | now apply incl_appr].
  Qed.

  Lemma after_first p q :
    after p q -> q = p \/ exists m,
      In m (rules.(moves) p) /\ (rules.(mover) p = agent -> m = strategy p)
      /\ after (rules.(play) p m) q.
  Proof.
    induction 1 as [|q m _ IH legal own]; [now left|]. right.
    destruct IH as [->|(first & ? & ? & ?)].
    - exists m. repeat split; [easy | easy | constructor].
    - exists first. repeat split; [easy | easy | now constructor].
  Qed.

  Lemma walk_claims num_moves : forall level number p q,
    walk num_moves level = Some number -> In p level -> after p q -> as_claimed q.
  Proof.
    induction num_moves as [|n IH]; intros [|first rest] number p q found here comes;
      try easy. simpl in found, IH.
    destruct (next_of_all (first :: rest)) as [l|] eqn:all;
      [|simpl in all; rewrite all in found; discriminate].
    destruct (next_of_all_each _ _ _ all here) as (each & one & among).
    simpl in all. rewrite all in found.
    destruct (walk n (merge l)) as [rest_number|] eqn:deeper; [|discriminate].
    destruct (after_first _ _ comes) as [->|(m & legal & own & later)].
    - exact (next_claimed _ _ one).
    - apply (IH (merge l) rest_number (rules.(play) p m) q deeper); [|exact later].
      apply merge_keeps, among, (next_complete _ _ _ one legal own).
  Qed.

  Lemma reach_after p : reach rules agent strategy p -> after rules.(start) p.
  Proof. induction 1; econstructor; eauto. Qed.

  Lemma reach_claimed num_moves number p :
    walk num_moves [rules.(start)] = Some number -> reach rules agent strategy p ->
    as_claimed p.
  Proof.
    intros found comes. apply (walk_claims _ _ _ rules.(start) p found).
    - now left.
    - now apply reach_after.
  Qed.
End Walk.

(** Strategies with the same moves reach the same positions. *)
Lemma same_reach {position : Type} (rules : game position) agent one two p :
  (forall p, one p = two p) -> reach rules agent one p -> reach rules agent two p.
Proof.
  intros same. induction 1 as [|p m _ IH legal own]; [constructor|].
  constructor; [easy | easy |]. intros mine. now rewrite <- same, own.
Qed.

Lemma same_never_loses {position : Type} (rules : game position) agent one two :
  (forall p, one p = two p) -> never_loses rules agent one -> never_loses rules agent two.
Proof.
  intros same claim p comes. rewrite <- same. apply claim.
  now apply (same_reach _ _ two).
Qed.

Section Sound.
  Context {position : Type} (rules : game position).
  Variables (agent : player) (strategy : position -> nat).
  Variable merge : list position -> list position.
  Hypothesis merge_keeps : forall p l, In p l -> In p (merge l).

  Theorem walk_never_loses num_moves number :
    walk rules agent strategy false merge num_moves [rules.(start)] = Some number ->
    never_loses rules agent strategy.
  Proof. intros found p comes. now apply (reach_claimed _ _ _ _ _ merge_keeps _ _ p found). Qed.

  Theorem walk_wins_every_game num_moves number :
    walk rules agent strategy true merge num_moves [rules.(start)] = Some number ->
    wins_every_game rules agent strategy.
  Proof.
    intros found.
    split; intros p comes; now apply (reach_claimed _ _ _ _ _ merge_keeps _ _ p found).
  Qed.
End Sound.
