import '@mantine/core/styles.css';
import './style.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { makeClient } from './api.ts';
import { App } from './app.tsx';
import { takeInvitation } from './place.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no place for the console');

// Before anything is drawn: drawing may happen twice, and the address is to be rid of the token at once.
const invitation = takeInvitation();

// The policy of the page allows no style that a script writes, so what Mantine would write is in its style file instead.
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
      theme={{ respectReducedMotion: true }}
    >
      <QueryClientProvider client={makeClient()}>
        <App invitation={invitation} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
