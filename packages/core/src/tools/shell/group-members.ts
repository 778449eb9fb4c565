/** Whether a group that may write a file has members other than the person and root. */
import { readFileSync } from "node:fs"

const ADMINISTRATORS_ON_MACOS = 80 // they may become root anyway; Homebrew's directories are theirs
const ROOT = 0

/** Groups that are only known to a directory service count as having others. */
export function isOnlyPersonsGroup(group: number, person: number): boolean {
  if (group === ROOT) return true
  // there, accounts are not in these files
  if (process.platform === "darwin") return group === ADMINISTRATORS_ON_MACOS
  const accounts = recordsOf("/etc/passwd").map(([name = "", , user, primary]) => ({
    name,
    user: Number(user),
    primary: Number(primary),
  }))
  const listed = recordsOf("/etc/group").find(([, , id]) => Number(id) === group)
  if (!listed) return false
  const named = (listed[3] ?? "").split(",").filter((name) => name !== "")
  const members = accounts.filter(({ name, primary }) => primary === group || named.includes(name))
  const isKnown = named.every((name) => accounts.some((account) => account.name === name))
  return isKnown && members.every(({ user }) => user === person || user === ROOT)
}

function recordsOf(file: string): readonly (readonly string[])[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"))
  } catch {
    return []
  }
}
