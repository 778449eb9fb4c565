/** Sends this process's requests through the proxy that the environment names. Servers on this machine are reached directly. */
import http from "node:http"
import { UsageError } from "./command.ts"
import type { Environment } from "./session-options.ts"

const THIS_MACHINE = "localhost,127.0.0.1,::1,[::1]"

export function connectThroughProxy(env: Environment): void {
  const named = (name: string) => env[name.toLowerCase()] || env[name] || undefined
  const httpProxy = named("HTTP_PROXY")
  const httpsProxy = named("HTTPS_PROXY")
  const [variable, address] = httpsProxy ? ["HTTPS_PROXY", httpsProxy] : ["HTTP_PROXY", httpProxy]
  if (address === undefined) return
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new UsageError(`${variable} is not a URL. Use one that starts with http:// or https://, or unset it.`)
  if (http.setGlobalProxyFromEnv === undefined) {
    if (env.NODE_USE_ENV_PROXY === "1") return
    throw new UsageError(
      `${variable} is set, and Node ${process.versions.node} cannot use it here. Set NODE_USE_ENV_PROXY=1, use Node 24.14 or later, or unset ${variable}.`,
    )
  }
  http.setGlobalProxyFromEnv({
    ...(httpProxy ? { http_proxy: httpProxy } : {}),
    ...(httpsProxy ? { https_proxy: httpsProxy } : {}),
    no_proxy: [named("NO_PROXY"), THIS_MACHINE].filter(Boolean).join(","),
  })
}
