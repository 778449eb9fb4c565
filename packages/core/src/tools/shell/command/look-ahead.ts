/** What a part of a line may change, found in its tree before it is gone through: loops and later assignments change what is known earlier. */
import { type Command, forEachChild, type SyntaxNode } from "unbash"
import { MOST_DEPTH } from "./shell-state.ts"

const MOST_LEVELS = MOST_DEPTH * 2 // of the tree, which has nodes between two levels of the shell

/** How often each variable is assigned. `*`: commands that may set any. */
export function countAssignments(root: SyntaxNode): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const add = (name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
  const visit = (node: SyntaxNode, level: number): void => {
    if (level > MOST_LEVELS) {
      add("*")
      return
    }
    if (node.type === "Assignment") add(node.name)
    if (node.type === "For" || node.type === "Select") add(node.name.value)
    if (maySetAny(node)) add("*")
    forEachChild(node, (child) => visit(child, level + 1))
  }
  visit(root, 0)
  return counts
}

function maySetAny(node: SyntaxNode): boolean {
  switch (node.type) {
    case "Function":
    case "ArithmeticCommand":
    case "ArithmeticExpansion":
      return true
    case "ParameterExpansion":
      return node.operation?.type === "Default" && node.operation.operator.endsWith("=")
    case "Command":
      return setsByName(node)
    default:
      return false
  }
}

/** Builtins that set variables by name. */
const SETTERS = new Set(
  "read mapfile readarray getopts let declare local export typeset readonly unset eval source . command builtin".split(
    " ",
  ),
)

function setsByName({ name, args }: Command): boolean {
  if (name === undefined) return false
  return (
    SETTERS.has(name.value) ||
    name.parts !== undefined ||
    (name.value === "printf" && args[0]?.text.startsWith("-") === true)
  )
}

/** Any other name may turn out to be `cd`. */
const PLAIN_NAME = /^[\w./[-]+$/
const MOVES = /^(?:cd|pushd|popd|builtin|command|eval|\.|source)$/

/** Whether a `cd` may be somewhere in it. */
export function movesDirectory(root: SyntaxNode): boolean {
  let found = false
  const visit = (node: SyntaxNode, level: number): void => {
    const name = node.type === "Command" ? node.name?.value : undefined
    const mayMove = name !== undefined && (!PLAIN_NAME.test(name) || MOVES.test(name))
    if (mayMove || level >= MOST_LEVELS) found = true
    if (!found) forEachChild(node, (child) => visit(child, level + 1))
  }
  visit(root, 0)
  return found
}
