/** Who may talk to the simulator: programs on this machine, with a key. */
import { ApiError } from "./api-error.ts"

const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i

/** A web page that reaches the port by a name of its own (DNS rebinding) is turned away. */
export function checkHost(host: string | undefined): void {
  if (!host || !LOOPBACK_HOST.test(host))
    throw new ApiError(403, "The simulator answers on the loopback interface only.")
}

/** `x-api-key` wins where both headers are present, as it does with the API. */
export function checkKey(headers: Headers, allowed: readonly string[] | undefined): void {
  const bearer = /^Bearer\s+(.+)$/i.exec(headers.get("authorization") ?? "")?.[1]
  const key = headers.get("x-api-key") ?? bearer
  if (!key) throw new ApiError(401, "x-api-key header is required")
  if (allowed && !allowed.includes(key)) throw new ApiError(401, "invalid x-api-key")
}
