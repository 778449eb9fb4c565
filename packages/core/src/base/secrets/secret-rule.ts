/** Rules that describe secrets as data. A rule matches the secret itself, or surrounding text with the secret in a group. */

export interface SecretRule {
  readonly kind: string
  /**
   * The secret is in the group `quoted`, `bare` or `secret`; without a group it is the entire match. Needs the flag `d`, and usually `g`.
   */
  readonly pattern: RegExp
  /**
   * Where a match can start. The pattern is then sticky and tried only there. Rules with the same value share the search. Needs the flag
   * `g`.
   */
  readonly begins?: RegExp
  /** Required for any match: a cheap check before a slow pattern. Needs the flag `g`. */
  readonly needs?: RegExp
  /** Every match contains one of these words, in any case. Most texts have none, which is known without a pattern. */
  readonly words?: readonly string[]
  /** Every match contains so many consecutive characters of base64. */
  readonly run?: number
  readonly isSecret?: (found: FoundValue) => boolean
}

export interface FoundValue {
  readonly value: string
  readonly isQuoted: boolean
  /** A few words of the following text. */
  readonly after: string
}
