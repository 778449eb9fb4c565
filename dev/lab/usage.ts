/** Rejects wrong arguments of the lab's commands with a sentence, before any work. */
import { statSync } from "node:fs"
import { type ParseArgsConfig, parseArgs } from "node:util"

/** An error about wrong arguments. Its message says what to do. */
export class LabUsageError extends Error {}

/** Prints the message of a `LabUsageError` and exits with code 2. */
export async function withSentences(work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof LabUsageError)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

export function readCall<const O extends NonNullable<ParseArgsConfig["options"]>>(
  args: readonly string[],
  { options, usage }: { readonly options: O; readonly usage: string },
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    const reason = (error as Error).message.split(". ")[0]
    throw new LabUsageError(`${reason}. The call is: ${usage}`, { cause: error })
  }
}

/** Checks that a folder named by the user exists. */
export function folderAt(folder: string): string {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return folder
  throw new LabUsageError(
    found
      ? `${folder} is a file. Name the folder that has it, or use: npm run strata -- compare FILE`
      : `There is no folder ${folder}. Name a folder with recordings, or none for those next to the repository.`,
  )
}
