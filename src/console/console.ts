// The console: pages for a Power User, written in React, a client of the admin API and nothing else.
// It knows neither the domain nor the database; of admin/ it takes types alone. The pages ask no other host for anything.
// This file is the server's end: the files of the page, built by bundle.ts when the program is built.

import { bundleConsole } from './bundle.ts' with { type: 'macro' };
import icon from './icon.svg' with { type: 'text' };
import page from './page.htm' with { type: 'text' };

export const consoleFiles = { page, icon, ...bundleConsole() };
