/** What secrets look like, as data. A rule matches the secret itself, or a text around it with the secret in the group `secret`. */

export interface SecretRule {
  readonly kind: string
  readonly pattern: RegExp
  /** Whether a match is one. Left out: always. */
  readonly isSecret?: (value: string, match: string) => boolean
}

export const SECRET_RULES: readonly SecretRule[] = [
  {
    kind: "private key",
    pattern: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  },
  { kind: "API key", pattern: /\bsk-[\w-]{16,}/g },
]
