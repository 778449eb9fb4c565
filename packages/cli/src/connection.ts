/** How the model is reached: the key and the address, from the environment. The key goes to the model and nowhere else. */
import { anthropicModel } from "@strata/core/agent"
import type { Model, ModelOverride } from "@strata/core/parts"
import { UsageError } from "./command.ts"
import type { Environment } from "./session-options.ts"

const LOCAL_KEY = "local" // a server on this machine, such as the simulator, takes any

export interface Connection {
  model(name: string, models: Readonly<Record<string, ModelOverride>>): Model
}

/** Nothing where there is neither a key nor a server on this machine. */
export function connectionFrom(env: Environment): Connection | undefined {
  const baseURL = env.ANTHROPIC_BASE_URL || undefined
  if (baseURL !== undefined && !isAddress(baseURL))
    throw new UsageError(
      `ANTHROPIC_BASE_URL is "${baseURL}", which is no address. One begins with http:// or https://.`,
    )
  const apiKey = env.ANTHROPIC_API_KEY || (baseURL !== undefined && isLoopback(baseURL) ? LOCAL_KEY : undefined)
  if (apiKey === undefined) return undefined
  return {
    model: (name, models) =>
      anthropicModel({ model: name, apiKey, models, ...(baseURL === undefined ? {} : { baseURL }) }),
  }
}

const isAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url)

function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}

export const NO_KEY = `There is no API key, so there is no model to talk to.

  export ANTHROPIC_API_KEY=sk-ant-…      your key, from console.anthropic.com
  export ANTHROPIC_BASE_URL=http://…     another server that speaks the Messages API; one on this machine needs no key

Without a key:

  strata demo                            watch an agent work against the simulator
  strata inspect FILE                    see where a transcript's context and money went
`
