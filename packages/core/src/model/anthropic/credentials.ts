/** The key or token from the environment, under the official SDK's variable names. */

type Environment = Readonly<Record<string, string | undefined>>

export interface Credentials {
  /** Sent as `x-api-key`. */
  readonly apiKey?: string
  /** Sent as `Authorization: Bearer`. */
  readonly authToken?: string
}

/** Whether the environment has a key or a token for Claude. */
export const hasCredentials = (env: Readonly<Record<string, string | undefined>>): boolean =>
  credentialsFrom(env) !== undefined

/** A token takes precedence over a key: users set it for a gateway, next to the key they use elsewhere. */
export function credentialsFrom({ ANTHROPIC_AUTH_TOKEN, ANTHROPIC_API_KEY }: Environment): Credentials | undefined {
  if (ANTHROPIC_AUTH_TOKEN) return { authToken: ANTHROPIC_AUTH_TOKEN }
  return ANTHROPIC_API_KEY ? { apiKey: ANTHROPIC_API_KEY } : undefined
}

/** The SDK appends `/v1/messages`, but other clients expect an address that ends in `/v1`, so users have both forms. */
export const withoutVersion = (baseURL: string): string => baseURL.replace(/\/v1\/?$/, "")
