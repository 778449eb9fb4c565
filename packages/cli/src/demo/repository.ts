/** Chooses the repository that the demo works on. */
import { checkoutRoot } from "../program-call.ts"

/** The checkout that contains this program, or the current directory if strata is installed as a package. */
export const repositoryToShow = (cwd: string, here?: string): string => checkoutRoot(here) ?? cwd
