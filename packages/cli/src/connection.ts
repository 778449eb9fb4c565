/** Connects to the model with the API key and the base URL from the environment. The key is sent to the model's server only. */

import http from "node:http"
import { anthropicModel, hasCredentials, type Model } from "@strata/core"
import type { ModelOverride } from "@strata/core/tokens"
import { UsageError } from "./command.ts"
import type { Environment } from "./session-options.ts"

/** Hosts that are reached directly, without the HTTP proxy that the environment names. */
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

const LOCAL_KEY = "local" // local servers such as the simulator accept any key

export interface Connection {
  model(name: string, models: Readonly<Record<string, ModelOverride>>): Model
}

/** The connection, or `undefined` if there is no key and the server is not on this machine. */
export function connectionFrom(env: Environment): Connection | undefined {
  const baseURL = env.ANTHROPIC_BASE_URL || undefined
  if (baseURL !== undefined && !isAddress(baseURL))
    throw new UsageError(
      `ANTHROPIC_BASE_URL is "${baseURL}", which is not a URL. Use one that starts with http:// or https://.`,
    )
  const isLocal = baseURL !== undefined && isLoopback(baseURL)
  if (!hasCredentials(env) && !isLocal) return undefined
  connectThroughProxy(env)
  const key = hasCredentials(env) ? {} : { apiKey: LOCAL_KEY }
  return { model: (name, models) => anthropicModel({ model: name, ...key, models, env }) }
}

/** Connection for work that needs facts about a model but sends no request. A request fails with the message that a key is missing. */
export const unusedConnection: Connection = {
  model: (name, models) => anthropicModel({ model: name, models, env: {} }),
}

const isAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

export const NO_KEY = `strata needs an API key to reach a model. Nothing was sent.

  export ANTHROPIC_API_KEY=sk-ant-…    your key, from console.anthropic.com
  export ANTHROPIC_AUTH_TOKEN=…        or a token, for a gateway
  export ANTHROPIC_BASE_URL=http://…   another server with the Messages API;
                                       a server on this machine needs no key

These commands work without a key:

  strata demo                          watch an agent work with a simulated model
  strata sim                           start a simulated server, to chat with
  strata inspect FILE                  see where a transcript's context and money went
  strata compact                       compact a conversation with quotations from it
  strata undo                          take a compaction back
  strata recall HANDLE                 look up what left the context
  strata dream                         put the project's memories in order, word by word
`
