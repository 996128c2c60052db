"""A linearized network and what training it gives: dual, primal and shared-kernel forms behind one face."""
