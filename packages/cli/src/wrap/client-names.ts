/** The clients that `strata wrap` knows. */
import { basename } from "node:path"

export const CLIENT_NAMES = ["claude", "pi", "opencode"] as const
export type ClientName = (typeof CLIENT_NAMES)[number]

/** Finds the client by the name of its program, in any directory. */
export function clientOf(command: string): ClientName | undefined {
  const name = basename(command).replace(/\.(?:exe|cmd|js)$/i, "")
  return CLIENT_NAMES.find((each) => each === name)
}
