/** The key or token and the address that the environment names, by the names of the official SDK. */

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

/** A token wins over a key: people set it for a gateway, next to the key they use elsewhere. */
export function credentialsFrom({ ANTHROPIC_AUTH_TOKEN, ANTHROPIC_API_KEY }: Environment): Credentials | undefined {
  if (ANTHROPIC_AUTH_TOKEN) return { authToken: ANTHROPIC_AUTH_TOKEN }
  return ANTHROPIC_API_KEY ? { apiKey: ANTHROPIC_API_KEY } : undefined
}

/** The SDK appends `/v1/messages`. Other clients want an address that ends in `/v1`, so people have both. */
export const withoutVersion = (baseURL: string): string => baseURL.replace(/\/v1\/?$/, "")
