/** Describes the actual or planned actions of a sync. */
import type { MemoryStep, ProjectReport, SessionReport, SessionStep } from "@strata/sync"
import { pluralize } from "../display/numbers.ts"
import { escapeToLine } from "../display/visible.ts"

/** Steps that are combined in one line. */
const COMBINED_STEPS: readonly (readonly [what: MemoryStep["what"], words: string])[] = [
  ["sent", "Sent"],
  ["received", "Received"],
  ["merged", "Merged, because two machines changed them"],
  ["removed-here", "Forgotten here, because they were forgotten on another machine (the archive keeps them)"],
  ["removed-there", "Removed from the remote, because they were forgotten here"],
  ["erased-here", "Erased here for good, because they were erased on another machine"],
  ["forgotten", "Not taken again, because you have forgotten them here"],
]

/** Lines about memories. Projects are named if there are several. */
export function memoryLines(reports: readonly ProjectReport[]): readonly string[] {
  const shown = reports.filter(({ steps, problems }) => steps.length + problems.length > 0)
  return shown.flatMap(({ project, steps, problems }) => {
    const lines = [...stepLines(steps), ...problems.map(escapeToLine)]
    return reports.length === 1 ? lines : [`${escapeToLine(project)}:`, ...lines.map((line) => `  ${line}`)]
  })
}

function stepLines(steps: readonly MemoryStep[]): readonly string[] {
  const together = COMBINED_STEPS.flatMap(([what, words]) => {
    const names = steps.filter((step) => step.what === what).map(({ file }) => file)
    return names.length === 0 ? [] : [`${words}: ${listNames(names)}`]
  })
  return [...together, ...steps.flatMap(ownLine)]
}

function ownLine(step: MemoryStep): readonly string[] {
  const file = escapeToLine(step.file)
  switch (step.what) {
    case "kept-both":
      return [
        `${file} was changed in the same lines on two machines. Both texts were kept: the other one is ${escapeToLine(step.as)}.`,
      ]
    case "refused":
      return [`${file} was not taken from the remote: ${escapeToLine(step.why)}.`]
    case "not-sent":
      return [`${file} was not sent: ${escapeToLine(step.why)}.`]
    case "not-erased":
      return [
        `${file} was erased on another machine, but not here yet: ${escapeToLine(step.why)} Sync again afterwards.`,
      ]
    default:
      return []
  }
}

const MAX_NAMED = 20

export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map(escapeToLine).join(", ")
  return names.length <= MAX_NAMED ? shown : `${shown} and ${pluralize(names.length - MAX_NAMED, "other")}`
}

/** Names of memories that would leave this machine. */
export const outgoingNames = (reports: readonly ProjectReport[]): readonly string[] =>
  reports.flatMap(({ project, steps }) =>
    steps.flatMap((step) =>
      step.what === "sent" ? [reports.length === 1 ? step.file : `${project}/${step.file}`] : [],
    ),
  )

export const outgoingSessions = (reports: readonly SessionReport[]): readonly string[] =>
  reports.flatMap(({ steps }) => steps.flatMap((step) => (step.what === "sent" ? [step.session] : [])))

export function sessionLines(reports: readonly SessionReport[]): readonly string[] {
  return reports.flatMap(({ project, steps }) => {
    const named = (what: SessionStep["what"]) =>
      steps.filter((step) => step.what === what).map(({ session }) => session)
    const lines = (["sent", "received"] as const).flatMap((what) => {
      const ids = named(what)
      return ids.length === 0 ? [] : [`${pluralize(ids.length, "session")} ${what}: ${listNames(ids)}`]
    })
    const all = [...lines, ...steps.flatMap(ownSessionLine)]
    return reports.length === 1 || all.length === 0
      ? all
      : [`${escapeToLine(project)}:`, ...all.map((line) => `  ${line}`)]
  })
}

function ownSessionLine(step: SessionStep): readonly string[] {
  switch (step.what) {
    case "kept-both":
      return [
        `Session ${escapeToLine(step.session)} was continued here and on another machine. The other version is stored as ${escapeToLine(step.as)}.`,
      ]
    case "not-sent":
      return [`Session ${escapeToLine(step.session)} was not sent: ${escapeToLine(step.why)}.`]
    case "not-received":
      return [`Session ${escapeToLine(step.session)} was not taken from the remote: ${escapeToLine(step.why)}.`]
    default:
      return []
  }
}
