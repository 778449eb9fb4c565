/** What a secret looks like, as data. A rule matches the secret itself, or a text around it with the secret in a group. */

export interface SecretRule {
  readonly kind: string
  /** The secret is in the group `quoted`, `bare` or `secret`; without a group it is the whole match. Flags: `dg` and others. */
  readonly pattern: RegExp
  /** Where a match can begin; the pattern is sticky and tried only there. Rules that share it share the search. Flags: `g` and others. */
  readonly begins?: RegExp
  /** A text without this has no match. For patterns that are slow to search for. Flags: `g` and others. */
  readonly needs?: RegExp
  readonly isSecret?: (found: FoundValue) => boolean
}

export interface FoundValue {
  readonly value: string
  readonly isQuoted: boolean
  /** The text that follows, up to a few words. */
  readonly after: string
}
