// Stands for the program itself when intake starts it as a child: knows the one command that intake uses.

import { inspectCommand } from '../../src/imports/inspect.ts';

const [command, ...words] = process.argv.slice(2);
if (command !== 'inspect') throw new Error('only "inspect" is known here');
process.exitCode = await inspectCommand(words, (line) => console.log(line));
