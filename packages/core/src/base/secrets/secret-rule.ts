/** What a secret looks like, as data. A rule matches the secret itself, or a text around it with the secret in a group. */

export interface SecretRule {
  readonly kind: string
  /** The secret is in the group `quoted`, `bare` or `secret`; without a group it is the whole match. Flags: `dg` and others. */
  readonly pattern: RegExp
  readonly isSecret?: (found: FoundValue) => boolean
}

export interface FoundValue {
  readonly value: string
  readonly isQuoted: boolean
  /** The text that follows, up to a few words. */
  readonly after: string
}
