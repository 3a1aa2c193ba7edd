"""Sonic: the diffusion animator, rebuilt on the stock networks of diffusers and transformers."""
