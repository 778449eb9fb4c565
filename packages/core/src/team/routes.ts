/** Where a message goes: `to` of SendMessage. */
import { isAbsolute } from "node:path"
import { isSafeId } from "../base/ids.ts"
import { localPerson, type MemoryOption, ownerIn, placeOfAllProjects } from "../base/owner.ts"

export type Route =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "all" }
  /** Another conversation, by the path of its socket. */
  | { readonly kind: "socket"; readonly path: string }
  /** Another conversation, by its id. */
  | { readonly kind: "bridge"; readonly conversation: string }
  | { readonly kind: "refused"; readonly why: string }

const SOCKET = "uds:"
const BRIDGE = "bridge:"

export function routeOf(to: string): Route {
  if (to === "*") return { kind: "all" }
  if (to.startsWith(SOCKET)) {
    const path = to.slice(SOCKET.length)
    if (isAbsolute(path) && !path.includes("\0")) return { kind: "socket", path }
    return refused(`After "${SOCKET}" comes the absolute path of a socket.`)
  }
  if (to.startsWith(BRIDGE)) {
    const conversation = to.slice(BRIDGE.length)
    if (isSafeId(conversation)) return { kind: "bridge", conversation }
    return refused(`After "${BRIDGE}" comes the id of a conversation.`)
  }
  if (isSafeId(to)) return { kind: "name", name: to }
  return refused(
    `${JSON.stringify(to.slice(0, 80))} is no receiver. Give a name, "*" for all, "${SOCKET}<path>" or "${BRIDGE}<conversation id>".`,
  )
}

/** How other conversations reach this one. */
export const bridgeTo = (conversation: string): string => `${BRIDGE}${conversation}`

const refused = (why: string): Route => ({ kind: "refused", why })

/** Conversations that may write to each other: those of one owner. Empty: the local person's. Nothing: it writes to none, and none to it. */
export function circleOf(memory: MemoryOption | undefined): string | undefined {
  const owner = ownerIn(memory)
  if (owner === undefined) return undefined
  return owner === localPerson ? "" : placeOfAllProjects(owner)
}
