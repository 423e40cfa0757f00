import { netloom, runCommandLine } from './program.ts';
import { endWithTheReader, exitWhenWritten, processTerminal } from './terminal.ts';

endWithTheReader();
const words = process.argv.slice(2);
exitWhenWritten(await runCommandLine(netloom, words[0] === '--version' ? ['version'] : words, processTerminal));
